import { useQuery } from "@tanstack/react-query";

import { appsQuery, usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import { statusNames } from "../api/types";
import { Button } from "../ui/Button";
import { CloseIcon } from "../ui/icons";
import { day } from "../ui/marks";
import { cleared, sourceNames, type Change, type Search } from "./search";

// Chips shows the parts of the filter, with buttons to remove them. The search field shows the
// words, so that the list does not move while the user types the first one.
export function Chips({ search, onChange }: { search: Search; onChange(change: Change): void }) {
  const { data: apps } = useQuery(appsQuery);
  const { data: users } = useQuery(usersQuery);
  const me = useSession().user.id;
  const { app, status, tag, assignee, source, from, to, q } = search;
  const chips: [string, Change][] = [];
  for (const one of status ?? []) {
    chips.push([statusNames[one], { status: status!.length > 1 ? status!.filter((other) => other !== one) : undefined }]);
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
  if (from) chips.push([`Since ${day(from.slice(0, 10))}`, { from: undefined }]);
  if (to) chips.push([`Before ${day(to.slice(0, 10))}`, { to: undefined }]);
  if (chips.length === 0) return null;
  return (
    <ul className="chips" aria-label="Active filters">
      {chips.map(([name, change]) => (
        <li key={name}>
          <Button small aria-label={`Remove filter: ${name}`} onPress={() => onChange(change)}>
            <span>{name}</span>
            <CloseIcon size={14} />
          </Button>
        </li>
      ))}
      {(chips.length > 1 || q) && <li><Button small kind="quiet" onPress={() => onChange(cleared)}>Clear all</Button></li>}
    </ul>
  );
}
