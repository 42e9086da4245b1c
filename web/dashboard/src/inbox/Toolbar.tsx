import { useEffect, useRef, useState, type RefObject } from "react";
import { Button as AriaButton, Input, SearchField } from "react-aria-components";

import { useSession } from "../api/session";
import type { Sort, Where } from "../api/types";
import { ExportMenu } from "../requests/ExportMenu";
import { Button } from "../ui/Button";
import { CheckIcon, CloseIcon, DownIcon, DownloadIcon, FilterIcon, PlusIcon, SearchIcon } from "../ui/icons";
import { Menu, MenuItem } from "../ui/Menu";
import { sortNames, type Search } from "./search";

interface Props {
  search: Search;
  where: Where;
  field: RefObject<HTMLInputElement | null>;
  filters: boolean; // whether they are shown
  onFilters(): void;
  onChange(change: Partial<Search>, replace?: boolean): void;
  onNew(): void;
  onLeave(): void; // from the search to the list
}

export function Toolbar({ search, where, field, filters, onFilters, onChange, onNew, onLeave }: Props) {
  const sort = search.sort ?? "newest";
  const member = useSession().can("member");
  return (
    <div className="toolbar" role="toolbar" aria-label="List">
      <Button icon kind="quiet" aria-label={filters ? "Hide the filters" : "Show the filters"} aria-expanded={filters} onPress={onFilters}>
        <FilterIcon />
      </Button>
      <SearchBox value={search.q ?? ""} field={field} onChange={(q) => onChange({ q: q || undefined }, true)} onLeave={onLeave} />
      <Menu
        label="Order"
        button={
          <Button kind="quiet" aria-label={`Order: ${sortNames[sort]}`}>
            <span className="toolbar-words">{sortNames[sort]}</span>
            <DownIcon size={16} />
          </Button>
        }
      >
        {(Object.keys(sortNames) as Sort[]).map((id) => (
          <MenuItem key={id} textValue={sortNames[id]} onAction={() => onChange({ sort: id === "newest" ? undefined : id })}>
            <span className="menu-text">{sortNames[id]}</span>{id === sort && <CheckIcon size={16} />}
          </MenuItem>
        ))}
      </Menu>
      <ExportMenu
        where={where}
        button={
          <Button icon kind="quiet" aria-label="Export these requests">
            <DownloadIcon />
          </Button>
        }
      />
      {member && (
        <Button kind="primary" aria-label="New request" onPress={onNew}>
          <PlusIcon size={16} />
          <span className="toolbar-words">New request</span>
        </Button>
      )}
    </div>
  );
}

const pause = 250;

function SearchBox({
  value,
  field,
  onChange,
  onLeave,
}: {
  value: string;
  field: RefObject<HTMLInputElement | null>;
  onChange(value: string): void;
  onLeave(): void;
}) {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setTyped(value); // cleared elsewhere, or by going back
  }, [value]);
  useEffect(() => {
    if (typed.trim() === told.current) return;
    const timer = setTimeout(() => {
      told.current = typed.trim();
      onChange(told.current);
    }, pause);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <SearchField
      className="search"
      aria-label="Search"
      value={typed}
      onChange={setTyped}
      maxLength={200}
      onKeyDown={(event) => {
        if ((event.key === "Escape" && !typed) || event.key === "Enter") onLeave();
        else event.continuePropagation();
      }}
    >
      <SearchIcon size={16} />
      <Input ref={field} placeholder="Search" />
      {typed && <AriaButton className="search-clear" aria-label="Clear the search"><CloseIcon size={14} /></AriaButton>}
    </SearchField>
  );
}
