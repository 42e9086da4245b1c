import { useQuery } from "@tanstack/react-query";

import { call, type Result } from "../api/call";
import { shortDay } from "../insights/range";
import { InsightsIcon } from "../ui/icons";
import { number, size } from "../ui/marks";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { AdminPage } from "./AdminPage";

export default function UsagePage() {
  return (
    <AdminPage title="Usage" about="What this account has used on each of the last 30 days, in UTC." what="what the account uses">
      <Days />
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

function Days() {
  const usage = useQuery({
    queryKey: ["usage"],
    queryFn: ({ signal }) => call("account-usage", {}, signal),
    staleTime: 0,
    refetchInterval: 20_000,
  });
  if (usage.isPending) return <Skeleton lines={8} label="Loading usage" />;
  if (!usage.data) return <Failure error={usage.error} onRetry={() => void usage.refetch()} />;
  const { days } = usage.data;
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
