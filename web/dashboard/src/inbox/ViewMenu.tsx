import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";

import { CheckIcon, DownIcon } from "../ui/icons";
import { Menu, MenuItem } from "../ui/Menu";
import { SaveAs, useUpdate } from "./SaveView";
import { boxNames, type Search } from "./search";
import { edited, opening, placeIn, usePlaces } from "./views";

// ViewMenu is the name of the current view, and a menu to choose another one.
export function ViewMenu({ search }: { search: Search }) {
  const { places } = usePlaces();
  const navigate = useNavigate();
  const [saving, setSaving] = useState(false);
  const update = useUpdate(search);
  const place = placeIn(search, places);
  const changed = edited(search, place);
  const name = search.box && !place.search.box ? boxNames[search.box] : place.name;
  return (
    <h1 className="view-title">
      <Menu
        label="Views"
        button={
          <AriaButton className="view-menu">
            <span className="view-menu-name">{name}</span>
            <DownIcon size={16} />
          </AriaButton>
        }
      >
        {changed && update && <MenuItem onAction={update}>Update view</MenuItem>}
        {changed && <MenuItem onAction={() => setSaving(true)}>Save as view…</MenuItem>}
        {places.map((one) => (
          <MenuItem key={one.id} textValue={one.name} onAction={() => void navigate({ to: "/", search: opening(one) })}>
            <span className="menu-text">{one.name}</span>{one.id === place.id && <CheckIcon size={16} />}
          </MenuItem>
        ))}
      </Menu>
      <SaveAs search={search} isOpen={saving} onClose={() => setSaving(false)} />
    </h1>
  );
}
