import type { App, FeatureRequest } from "../api/types";
import { useStatusName } from "../requests/statuses";
import { BarChart, type Row, RowTable } from "./bars";
import { areWeeks, binName, binsOf } from "./bins";
import { ChartCard } from "./ChartCard";
import type { Search } from "../inbox/search";
import { percent } from "./numbers";
import type { Stats } from "./queries";
import { timesOf } from "./range";
import { TimeChart } from "./TimeChart";

interface Props {
  stats: Stats;
  // The filter with which the inbox shows the requests that are counted.
  search: Search;
}

export function OverTime({ stats, search }: Props) {
  const title = "Requests over time";
  const bins = binsOf(stats.by_day);
  const weeks = areWeeks(bins);
  const rows = bins.map((bin) => ({ key: bin.from, name: binName(bin), count: bin.requests, search: { ...search, ...timesOf(bin) } }));
  return (
    <ChartCard
      wide
      title={title}
      note={weeks ? "By week, starting Monday (UTC)" : "By day (UTC)"}
      chart={<TimeChart bins={bins} search={search} />}
      table={<RowTable title={title} columns={{ name: weeks ? "Week" : "Day", count: "Requests" }} rows={rows} total={stats.total} />}
    />
  );
}

export function ByStatus({ stats, search }: Props) {
  const nameOf = useStatusName();
  const rows: Row[] = stats.by_status.map(({ status, requests }) => ({
    key: status,
    name: nameOf(status, search.app),
    count: requests,
    detail: percent(requests, stats.total),
    search: { ...search, status: [status] },
    status,
  }));
  return <BarChart title="By status" columns={{ name: "Status", count: "Requests", detail: "Share" }} rows={rows} total={stats.total} />;
}

export function ByApp({ stats, search, apps }: Props & { apps: App[] }) {
  const rows: Row[] = stats.by_app.map(({ app_id, requests }) => ({
    key: app_id,
    name: apps.find((app) => app.id === app_id)?.name ?? "Unknown app",
    count: requests,
    detail: percent(requests, stats.total),
    search: { ...search, app: app_id },
  }));
  return <BarChart title="By app" columns={{ name: "App", count: "Requests", detail: "Share" }} rows={rows} total={stats.total} />;
}

const tagsShown = 10;

export function TopTags({ stats, search }: Props) {
  const title = "Top tags";
  const rows: Row[] = stats.by_tag.slice(0, tagsShown).map(({ tag, requests }) => ({
    key: tag,
    name: tag,
    count: requests,
    detail: percent(requests, stats.total),
    search: { ...search, tag },
  }));
  if (rows.length === 0) {
    return (
      <section className="card chart-card">
        <h2>{title}</h2>
        <p className="quiet">No requests in this range have tags. Tag requests in the inbox to see common topics.</p>
      </section>
    );
  }
  return <BarChart title={title} columns={{ name: "Tag", count: "Requests", detail: "Share" }} rows={rows} />;
}

export function MostWanted({ requests, search }: { requests: FeatureRequest[]; search: Search }) {
  const nameOf = useStatusName();
  const rows: Row[] = requests.map((request) => ({
    key: request.id,
    name: request.title,
    count: request.votes,
    detail: nameOf(request.status, request.app_id),
    search: { ...search, sort: "most_voted", request: request.id },
  }));
  const columns = { name: "Request", count: "Votes", detail: "Status" };
  return <BarChart wide title="Most wanted, not completed or declined" columns={columns} rows={rows} />;
}
