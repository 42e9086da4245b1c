import { useQuery } from "@tanstack/react-query";

import { usageQuery } from "../api/queries";
import { near, type Quota } from "../api/quotas";
import { useSession } from "../api/session";
import { amount } from "./amount";
import { Banner } from "./Banner";

// What a quota counts, and what happens beyond it.
const about: Record<Quota["name"], [what: string, beyond: string]> = {
  requests: [
    "requests submitted this month",
    "Requests beyond the quota are refused until the month ends in UTC. The widget keeps them in the visitor’s browser and tries again.",
  ],
  files: ["of files stored", "Files beyond the quota are refused. Requests without files are stored."],
  members: ["people in the team", "Nobody can be invited beyond the quota."],
  apps: ["apps", "No app can be created beyond the quota."],
  webhooks: ["webhooks", "No webhook can be created beyond the quota."],
  mails: ["mails written today", "News beyond the quota waits until midnight UTC."],
  verified: ["people verified today", "People beyond the quota are asked to confirm their address, until midnight UTC."],
};

// QuotaBanner tells admins that most of a quota is used, and what happens beyond it.
export function QuotaBanner() {
  const { can } = useSession();
  const { data } = useQuery({ ...usageQuery, enabled: can("admin") });
  return (
    <div role="status">
      {data?.quotas.filter(near).map(({ name, used, most }) => {
        const [what, beyond] = about[name];
        return (
          <Banner key={name} title={`${amount(name, used)} of ${amount(name, most!)} ${what}`}>
            <p>{beyond}</p>
          </Banner>
        );
      })}
    </div>
  );
}
