import { useQuery } from "@tanstack/react-query";

import { appsQuery, usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import { statusNames } from "../api/types";
import { Button } from "../ui/Button";
import { CloseIcon } from "../ui/icons";
import { day } from "../ui/marks";
import { cleared, filtered, sourceNames, type Change, type Search } from "./search";

// The filter in words, each part to be taken away.
export function Chips({ search, onChange }: { search: Search; onChange(change: Change): void }) {
  const { data: apps } = useQuery(appsQuery);
  const { data: users } = useQuery(usersQuery);
  const me = useSession().user.id;
  if (!filtered(search)) return null;
  const { app, status, tag, assignee, source, from, to, q } = search;
  const chips: [string, Change][] = [];
  for (const one of status ?? []) {
    chips.push([statusNames[one], { status: status!.length > 1 ? status!.filter((other) => other !== one) : undefined }]);
  }
  if (app) chips.push([apps?.find(({ id }) => id === app)?.name ?? "One app", { app: undefined }]);
  if (assignee) {
    chips.push([
      assignee === me ? "Mine" : assignee === "none" ? "Nobody’s" : (users?.find(({ id }) => id === assignee)?.name ?? "One assignee"),
      { assignee: undefined },
    ]);
  }
  if (tag) chips.push([`Tag: ${tag}`, { tag: undefined }]);
  if (source) chips.push([`By ${sourceNames[source]}`, { source: undefined }]);
  if (from) chips.push([`Since ${day(from.slice(0, 10))}`, { from: undefined }]);
  if (to) chips.push([`Before ${day(to.slice(0, 10))}`, { to: undefined }]);
  if (q) chips.push([`“${q}”`, { q: undefined }]);
  return (
    <ul className="chips" aria-label="Filters in use">
      {chips.map(([name, change]) => (
        <li key={name}>
          <Button small aria-label={`Remove the filter ${name}`} onPress={() => onChange(change)}>
            <span>{name}</span>
            <CloseIcon size={14} />
          </Button>
        </li>
      ))}
      {chips.length > 1 && <li><Button small kind="quiet" onPress={() => onChange(cleared)}>Clear all</Button></li>}
    </ul>
  );
}
