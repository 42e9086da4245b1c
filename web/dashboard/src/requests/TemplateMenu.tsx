import { useQuery } from "@tanstack/react-query";

import { Button } from "../ui/Button";
import { DownIcon } from "../ui/icons";
import { Menu, MenuItem } from "../ui/Menu";
import { templatesQuery } from "./templates";

interface Props {
  onChoose(text: string): void;
  onEdit(): void;
}

// TemplateMenu offers texts that the team uses again in public replies.
export function TemplateMenu({ onChoose, onEdit }: Props) {
  const { data = [] } = useQuery(templatesQuery);
  return (
    <Menu label="Templates" button={<Button small kind="quiet">Templates<DownIcon size={16} /></Button>}>
      {data.map(({ id, name, body }) => (
        <MenuItem key={id} textValue={name} onAction={() => onChoose(body)}><span className="menu-text">{name}</span></MenuItem>
      ))}
      <MenuItem onAction={onEdit}>{data.length > 0 ? "Edit templates…" : "New template…"}</MenuItem>
    </Menu>
  );
}
