import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { appsQuery } from "../api/queries";
import { unfinished } from "../api/types";
import { ExportMenu } from "../requests/ExportMenu";
import { Button } from "../ui/Button";
import { Select } from "../ui/choices";
import { DownloadIcon, InsightsIcon } from "../ui/icons";
import { EmptyState, Failure } from "../ui/states";
import { ByAnswer } from "./ByAnswer";
import { ByApp, ByStatus, MostWanted, OverTime, TopTags } from "./charts";
import { Headline } from "./Headline";
import { Loading } from "./Loading";
import { type Search, whereOf } from "../inbox/search";
import { usePageTitle } from "../shell/title";
import { requestCount } from "./numbers";
import { anyRequestQuery, statsQuery, topQuery } from "./queries";
import { type Days, daysFrom, inWords, presetDays, timesOf, defaultPreset } from "./range";
import { RangePicker } from "./RangePicker";
import { rankingOf } from "./ranking";
import "./insights.css";

export default function InsightsPage() {
  usePageTitle("Insights");
  const asked = useSearch({ from: "/inside/insights" });
  const navigate = useNavigate();
  const days = daysFrom(asked);
  const apps = useQuery(appsQuery);
  const app = asked.app;
  const search: Search = { ...timesOf(days), ...(app && { app }) };
  const go = (next: Days, nextApp: string | undefined) =>
    void navigate({ to: "/insights", search: searchOf(next, nextApp), replace: true });
  return (
    <div className="page insights">
      <div className="page-head">
        <h1>Insights</h1>
        <ExportMenu where={whereOf(search)} button={<Button><DownloadIcon size={16} />Export</Button>} />
      </div>
      <div className="insights-controls">
        <RangePicker days={days} onChange={(next) => go(next, app)} />
        <Select
          hideLabel
          label="App"
          value={app ?? "all"}
          options={[{ id: "all", name: "All apps" }, ...(apps.data ?? []).map(({ id, name }) => ({ id, name }))]}
          onChange={(id) => go(days, id === "all" ? undefined : id)}
        />
      </div>
      <Numbers days={days} app={app} search={search} />
    </div>
  );
}

// searchOf leaves the default range out of the address, so that a bookmark moves with time.
function searchOf(days: Days, app: string | undefined) {
  const range = presetDays(defaultPreset);
  return { ...(days.from === range.from && days.to === range.to ? {} : days), ...(app && { app }) };
}

function Numbers({ days, app, search }: { days: Days; app: string | undefined; search: Search }) {
  const stats = useQuery(statsQuery(days, app));
  // An old request can be what people want most.
  const open: Search = { status: unfinished, ...(app && { app }) };
  const wanted = useQuery(topQuery("most_voted", whereOf(open)));
  const trending = useQuery(topQuery("trending", whereOf(open)));
  const apps = useQuery(appsQuery);
  const needed = [stats, wanted, trending, apps];
  const failed = needed.find((query) => query.isError && !query.data);
  if (failed) return <Failure error={failed.error} onRetry={() => void Promise.all(needed.map((query) => query.refetch()))} />;
  if (!stats.data || !wanted.data || !trending.data || !apps.data) return <Loading />;
  const stale = stats.isPlaceholderData || wanted.isPlaceholderData || trending.isPlaceholderData;
  const headline = <Headline ranking={rankingOf(wanted.data)} trending={trending.data} search={open} />;
  if (stats.data.total === 0) return <Nothing days={days} app={app} headline={headline} />;
  return (
    <div className={stale ? "charts charts-stale" : "charts"} aria-busy={stale}>
      {headline}
      <p className="insights-total">
        {!stats.data.exact && "At least "}
        <Link to="/" search={search}>{requestCount(stats.data.total)}</Link> received, {inWords(days)}
        {!stats.data.exact && ". The latest changes are still being counted."}
      </p>
      <OverTime stats={stats.data} search={search} />
      <MostWanted requests={wanted.data} search={open} />
      <div className="chart-column">
        <ByStatus stats={stats.data} search={search} />
        {!app && <ByApp stats={stats.data} search={search} apps={apps.data} />}
      </div>
      <div className="chart-column">
        <ByAnswer stats={stats.data} />
        <TopTags stats={stats.data} search={search} />
      </div>
    </div>
  );
}

function Nothing({ days, app, headline }: { days: Days; app: string | undefined; headline: ReactNode }) {
  const any = useQuery(anyRequestQuery);
  if (any.data === undefined) return <Loading />;
  if (!any.data) {
    return (
      <EmptyState icon={<InsightsIcon size={24} />} title="No requests yet">
        <p>Insights show what people want most. Install the widget of an app to receive requests.</p>
        <Link to="/apps" className="button button-primary">Go to apps</Link>
      </EmptyState>
    );
  }
  return (
    <>
      {headline}
      <EmptyState icon={<InsightsIcon size={24} />} title="No requests in this range">
        <p>There are no requests from {inWords(days)}. Try a longer range.</p>
        <Link to="/insights" search={searchOf(presetDays("365"), app)} className="button">Show 12 months</Link>
      </EmptyState>
    </>
  );
}
