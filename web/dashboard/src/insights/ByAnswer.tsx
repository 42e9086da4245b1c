import { BarChart, type Row } from "./bars";
import { percent, requestCount } from "./numbers";
import type { Stats } from "./queries";

type Answer = Stats["by_answer"][number]["within"];

// A request is in the first that fits.
const answerNames: Record<Answer, string> = {
  hour: "Within an hour",
  day: "1 to 24 hours",
  week: "1 to 7 days",
  month: "7 to 30 days",
  longer: "Later",
  not_yet: "No answer yet",
};

// How quickly people get an answer, in a sentence.
function answerSentence(stats: Stats): string {
  const within = (...times: Answer[]) =>
    stats.by_answer.filter((part) => times.includes(part.within)).reduce((sum, part) => sum + part.requests, 0);
  const waiting = within("not_yet");
  if (stats.total > 0 && waiting === stats.total) return "None has had an answer yet.";
  const soon = within("hour", "day");
  const left = waiting === 0 ? "none waits for one" : `${requestCount(waiting)} ${waiting === 1 ? "waits" : "wait"} for one`;
  return `${percent(soon, stats.total)} had their first answer within a day; ${left}.`;
}

export function ByAnswer({ stats }: { stats: Stats }) {
  const rows: Row[] = stats.by_answer.map(({ within, requests }) => ({
    key: within,
    name: answerNames[within],
    count: requests,
    detail: percent(requests, stats.total),
  }));
  const columns = { name: "First answer", count: "Requests", detail: "Share" };
  return <BarChart title="Time to first answer" note={answerSentence(stats)} columns={columns} rows={rows} total={stats.total} />;
}
