import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { appsQuery, usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import { nameOf as personName } from "../requests/person";
import { useStatusName } from "../requests/statuses";
import { Button } from "../ui/Button";
import { CloseIcon } from "../ui/icons";
import { day } from "../ui/day";
import { SaveView } from "./SaveView";
import { differsIn, filtersDiffer, hiddenNames, isNarrowed, sourceNames, type Change, type Search } from "./search";
import { resetting, type Place } from "./views";

// Chips shows the parts of the filter that the view does not have, with buttons to remove them. The
// search field shows the words.
export function Chips({ search, place, onChange }: { search: Search; place: Place; onChange(change: Change): void }) {
  const row = useRef<HTMLDivElement>(null);
  const pressed = useRef<number>(undefined); // the filter whose button had the focus
  useEffect(() => {
    if (pressed.current === undefined || document.activeElement !== document.body) return;
    const left = row.current?.querySelectorAll<HTMLElement>("li > button") ?? [];
    (left[Math.min(pressed.current, left.length - 1)] ?? document.getElementById("filters"))?.focus();
    pressed.current = undefined;
  });
  const press = (at: number, change: Change) => {
    pressed.current = at;
    onChange(change);
  };
  const { data: apps } = useQuery(appsQuery);
  const { data: users } = useQuery(usersQuery);
  const nameOf = useStatusName();
  const me = useSession().user.id;
  const own = Object.entries(search).filter(([name]) => differsIn(name as keyof Search, search, place.search));
  const { person, app, status, tag, assignee, source, hidden, from, to, q }: Search = Object.fromEntries(own);
  const chips: [string, Change][] = [];
  if (person) chips.push([`Person: ${personName(person)}`, { person: undefined }]);
  for (const one of status ?? []) {
    chips.push([nameOf(one, search.app), { status: status!.length > 1 ? status!.filter((other) => other !== one) : undefined }]);
  }
  if (app) chips.push([apps?.find(({ id }) => id === app)?.name ?? "App", { app: undefined }]);
  if (assignee) {
    const name = users?.find(({ id }) => id === assignee)?.name ?? "someone else";
    chips.push([
      assignee === me ? "Assigned to me" : assignee === "none" ? "Unassigned" : `Assigned to ${name}`,
      { assignee: undefined },
    ]);
  }
  if (tag) chips.push([`Tag: ${tag}`, { tag: undefined }]);
  if (source) chips.push([`Source: ${sourceNames[source]}`, { source: undefined }]);
  if (hidden !== undefined) chips.push([hiddenNames[`${hidden}`], { hidden: undefined }]);
  if (from) chips.push([`Since ${day(from.slice(0, 10))}`, { from: undefined }]);
  if (to) chips.push([`Before ${day(to.slice(0, 10))}`, { to: undefined }]);
  if (!isNarrowed(search, place.search)) return null;
  return (
    <div className="chips-row" ref={row}>
      <ul className="chips" aria-label="Active filters">
        {chips.map(([name, change], at) => (
          <li key={name}>
            <Button small aria-label={`Remove filter: ${name}`} onPress={() => press(at, change)}>
              <span>{name}</span>
              <CloseIcon size={14} />
            </Button>
          </li>
        ))}
      </ul>
      {(chips.length > 1 || q || filtersDiffer(place.search, {})) && (
        <Button small kind="quiet" onPress={() => press(0, resetting(place))}>Clear all</Button>
      )}
      <span className="chips-save"><SaveView search={search} /></span>
    </div>
  );
}
