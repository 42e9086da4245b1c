import { BarChart, type Row } from "./bars";
import { percent, requestCount } from "./numbers";
import type { Stats } from "./queries";

type Answer = Stats["by_answer"][number]["within"];

const answerNames: Record<Answer, string> = {
  hour: "Within an hour",
  day: "1 to 24 hours",
  week: "1 to 7 days",
  month: "7 to 30 days",
  longer: "After 30 days",
  not_yet: "No response yet",
};

// summary says how quickly requests get a response.
function summary(stats: Stats): string {
  const within = (...times: Answer[]) =>
    stats.by_answer.filter((part) => times.includes(part.within)).reduce((sum, part) => sum + part.requests, 0);
  const waiting = within("not_yet");
  if (stats.total > 0 && waiting === stats.total) return "No request has a response yet.";
  const soon = `${percent(within("hour", "day"), stats.total)} got a response within a day.`;
  return waiting === 0 ? soon : `${soon} ${requestCount(waiting)} ${waiting === 1 ? "has" : "have"} no response yet.`;
}

export function ByAnswer({ stats }: { stats: Stats }) {
  const rows: Row[] = stats.by_answer.map(({ within, requests }) => ({
    key: within,
    name: answerNames[within],
    count: requests,
    detail: percent(requests, stats.total),
  }));
  const columns = { name: "First response", count: "Requests", detail: "Share" };
  return <BarChart title="Time to first response" note={summary(stats)} columns={columns} rows={rows} total={stats.total} />;
}
