import { useQuery, useQueryClient } from "@tanstack/react-query";

import { call } from "../api/call";
import { useSession } from "../api/session";
import type { App } from "../api/types";
import { nameOf } from "../requests/person";
import { Verified } from "../requests/Submitter";
import { Button } from "../ui/Button";
import { Time } from "../ui/marks";
import { notify, notifyError } from "../ui/notices";
import { Failure, Skeleton } from "../ui/states";
import { blockedQuery } from "./queries";

// Blocked lists the people who may not take part in the portal.
export function Blocked({ app }: { app: App }) {
  const { can } = useSession();
  const client = useQueryClient();
  const query = blockedQuery(app.id);
  const blocked = useQuery(query);
  if (blocked.isPending) return <Skeleton lines={2} label="Loading blocked people" />;
  if (blocked.isError) return <Failure error={blocked.error} onRetry={() => void blocked.refetch()} />;

  async function unblock(key: string, name: string) {
    try {
      await call("people-unblock", { app_id: app.id, key });
      notify(`${name} can take part again.`);
    } catch (error) {
      notifyError(error, `Could not unblock ${name}.`);
    }
    await client.invalidateQueries(query);
  }

  if (blocked.data.length === 0) return <p className="quiet">Nobody is blocked. You can block people from the menu of their comments.</p>;
  return (
    <ul className="portal-found" aria-label="Blocked people">
      {blocked.data.map((person) => {
        const name = nameOf(person) || "Visitor";
        return (
          <li key={person.key}>
            <span>
              {name} {person.verified && <Verified />} <span className="quiet small">Blocked <Time at={person.blocked_at} /></span>
            </span>
            {can("member") && (
              <Button small aria-label={`Unblock ${name}`} onPress={() => void unblock(person.key, name)}>Unblock</Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
