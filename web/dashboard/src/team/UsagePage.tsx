import { useQuery } from "@tanstack/react-query";

import type { Result } from "../api/call";
import { usageQuery } from "../api/queries";
import type { Quota } from "../api/quotas";
import { shortDay } from "../insights/range";
import { InsightsIcon } from "../ui/icons";
import { number, size } from "../ui/marks";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { AdminPage } from "./AdminPage";
import { amount } from "./amount";

export default function UsagePage() {
  return (
    <AdminPage title="Usage" about="What this account uses, in days and months of UTC." what="what the account uses">
      <Contents />
    </AdminPage>
  );
}

type Day = Result<"account-usage">["days"][number];

const columns: [name: string, value: (day: Day) => number, format: (n: number) => string][] = [
  ["Calls", (day) => day.calls, number],
  ["Requests", (day) => day.submissions, number],
  ["Files", (day) => day.file_bytes, size],
  ["Mails", (day) => day.mails, number],
];

function Contents() {
  const usage = useQuery({ ...usageQuery, staleTime: 0, refetchInterval: 20_000 });
  if (usage.isPending) return <Skeleton lines={8} label="Loading usage" />;
  if (!usage.data) return <Failure error={usage.error} onRetry={() => void usage.refetch()} />;
  return (
    <>
      <Quotas quotas={usage.data.quotas} />
      <h2>The last 30 days</h2>
      <Days days={usage.data.days} />
    </>
  );
}

const names: Record<Quota["name"], string> = {
  requests: "Requests this month",
  files: "Stored files",
  members: "People in the team",
  apps: "Apps",
  webhooks: "Webhooks",
  mails: "Mails today",
  verified: "People verified today",
};

function Quotas({ quotas }: { quotas: Quota[] }) {
  return (
    <div className="usage quotas" tabIndex={0} role="region" aria-label="Quotas">
      <table>
        <thead>
          <tr><th scope="col">Quota</th><th scope="col">Used</th><th scope="col">At most</th></tr>
        </thead>
        <tbody>
          {quotas.map(({ name, used, most }) => (
            <tr key={name}>
              <th scope="row">{names[name]}</th>
              <td className="number">{amount(name, used)}</td>
              <td className="number">{most === null ? "No limit" : amount(name, most)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="quiet small">The operator of this service sets the quotas.</p>
    </div>
  );
}

function Days({ days }: { days: Day[] }) {
  if (days.length === 0) {
    return (
      <EmptyState icon={<InsightsIcon size={24} />} title="Nothing used yet">
        <p>Counts appear here within a minute.</p>
      </EmptyState>
    );
  }
  return (
    <div className="usage" tabIndex={0} role="region" aria-label="Usage by day">
      <table>
        <thead>
          <tr><th scope="col">Day</th>{columns.map(([name]) => <th key={name} scope="col">{name}</th>)}</tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.day}>
              <th scope="row">{shortDay(day.day)}</th>
              {columns.map(([name, value, format]) => <td key={name} className="number">{format(value(day))}</td>)}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            {columns.map(([name, value, format]) => (
              <td key={name} className="number">{format(days.reduce((sum, day) => sum + value(day), 0))}</td>
            ))}
          </tr>
        </tfoot>
      </table>
      <p className="quiet small">
        Calls are those of the widget, the portal, programs and your team.
      </p>
    </div>
  );
}
