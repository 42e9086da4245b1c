import { useQuery } from "@tanstack/react-query";

import { appsQuery } from "../api/queries";
import { useSession } from "../api/session";
import type { Token } from "../api/types";
import { Button } from "../ui/Button";
import { moment } from "../ui/marks";
import { scopes } from "./data";

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const dayOf = (at: Date) => at.setHours(0, 0, 0, 0) / 86_400_000;

// Day shows the day of a time, such as "today" or "in 89 days".
function Day({ at }: { at: string }) {
  const days = Math.round(dayOf(new Date(at)) - dayOf(new Date()));
  return <time dateTime={at} title={moment(at)}>{relative.format(days, "day")}</time>;
}

export function TokenRow({ token, onRevoke }: { token: Token; onRevoke(): void }) {
  const { user } = useSession();
  const { data: apps } = useQuery(appsQuery);
  const { name, app_id, expires_at, used_at } = token;
  const app = apps?.find(({ id }) => id === app_id)?.name ?? "One app";
  const expired = Date.parse(expires_at) <= Date.now();
  const owner = token.user?.id !== user.id && token.user?.name;
  return (
    <li className="token">
      <div>
        <p className="token-name">{name}</p>
        <p className="quiet small token-facts">
          {owner && <span>{owner}</span>}
          <span>{scopes.find(({ id }) => id === token.scope)?.name}</span>
          <span>{app_id ? app : "All apps"}</span>
          <span>{expired ? <span className="token-expired">Expired</span> : <>Expires <Day at={expires_at} /></>}</span>
          <span>{used_at ? <>Used <Day at={used_at} /></> : "Never used"}</span>
        </p>
      </div>
      <Button small aria-label={`Revoke ${name}`} onPress={onRevoke}>Revoke</Button>
    </li>
  );
}
