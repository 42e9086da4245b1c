import { useEffect, useRef, useState, type RefObject } from "react";

import { useSession } from "../api/session";
import type { Where } from "../api/types";
import { ExportMenu } from "../requests/ExportMenu";
import { Button } from "../ui/Button";
import { CheckIcon, CloseIcon, DownloadIcon, FilterIcon, PlusIcon, SearchIcon, SortIcon } from "../ui/icons";
import { Menu, MenuItem } from "../ui/Menu";
import { sortNames, sortOf, sortsOf, type Search } from "./search";

interface Props {
  search: Search;
  where: Where;
  total: number; // of the list
  field: RefObject<HTMLInputElement | null>;
  filters: boolean; // whether they are shown
  onFilters(): void;
  onChange(change: Partial<Search>, replace?: boolean): void;
  onNew(): void;
  onLeave(): void; // from the search to the list
}

export function Toolbar({ search, where, total, field, filters, onFilters, onChange, onNew, onLeave }: Props) {
  const sort = sortOf(search);
  const member = useSession().can("member");
  return (
    <div className="toolbar" role="toolbar" aria-label="List controls">
      <Button
        id="filters"
        icon
        kind="quiet"
        shortcut="F"
        aria-label={filters ? "Hide filters" : "Show filters"}
        aria-expanded={filters}
        onPress={onFilters}
      >
        <FilterIcon />
      </Button>
      <SearchBox value={search.q ?? ""} field={field} onChange={(q) => onChange({ q: q || undefined }, true)} onLeave={onLeave} />
      <Menu
        label="Sort"
        button={
          <Button kind="quiet" aria-label={`Sort: ${sortNames[sort]}`}>
            <SortIcon size={16} />
            <span className="toolbar-words">{sortNames[sort]}</span>
          </Button>
        }
      >
        {sortsOf(search).map((id) => (
          <MenuItem key={id} textValue={sortNames[id]} onAction={() => onChange({ sort: id })}>
            <span className="menu-text">{sortNames[id]}</span>{id === sort && <CheckIcon size={16} />}
          </MenuItem>
        ))}
      </Menu>
      <ExportMenu
        where={where}
        listed={sort === "relevance" ? total : undefined}
        button={
          <Button icon kind="quiet" aria-label="Export requests">
            <DownloadIcon />
          </Button>
        }
      />
      {member && (
        <Button kind="primary" shortcut="N" aria-label="New request" onPress={onNew}>
          <PlusIcon size={16} />
          <span className="toolbar-words">New request</span>
        </Button>
      )}
    </div>
  );
}

const pause = 150;

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
  const applied = useRef(value);
  useEffect(() => {
    if (value === applied.current) return;
    applied.current = value;
    setTyped(value); // the filters were cleared, or the user went back
  }, [value]);
  useEffect(() => {
    if (typed.trim() === applied.current) return;
    const timer = setTimeout(() => {
      applied.current = typed.trim();
      onChange(applied.current);
    }, pause);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div className="search">
      <SearchIcon size={16} />
      <input
        ref={field}
        type="search"
        aria-label="Search"
        placeholder="Search"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        maxLength={200}
        onKeyDown={(event) => {
          if (event.key === "Enter" || (event.key === "Escape" && !typed)) {
            event.stopPropagation();
            onLeave();
          } else if (event.key === "Escape") {
            event.preventDefault();
            setTyped("");
          }
        }}
      />
      {typed && (
        <button
          type="button"
          className="search-clear"
          aria-label="Clear search"
          tabIndex={-1} // Escape does the same
          onClick={() => {
            setTyped("");
            field.current?.focus();
          }}
        >
          <CloseIcon size={14} />
        </button>
      )}
    </div>
  );
}
