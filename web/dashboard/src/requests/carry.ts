import { ApiError, call } from "../api/call";
import { queryClient } from "../api/queries";
import type { Box, FeatureRequest } from "../api/types";
import { number } from "../ui/marks";
import { notify, notifyError, undoLast } from "../ui/notices";
import { chunks, type Pair } from "./edits";
import { place, restart, stopReading, type GoneFrom } from "./lists";
import { report } from "./progress";
import { requestQuery, rowOf, type Row } from "./rows";

// A Step is one call of a change, for some of its rows. It may return the changed row.
export type Step = { pairs: Pair[]; run(): Promise<FeatureRequest | void> };

// A Job is a change that is shown at once and then sent. from and to are set if it moves
// requests to another box.
type Job = {
  steps: Step[];
  from?: Box;
  to?: Box;
  doing: string;
  done: string;
  inverse?: (pairs: Pair[]) => Step[];
  also?: Row[]; // other requests whose numbers change
  whole?: boolean; // for all that match a filter, most of which are not loaded
  goneFrom?: GoneFrom;
};

// The changes that can be undone, the latest last.
const undoable: (() => void)[] = [];

// Changes are sent one after another, so that each knows the version that the previous one
// made.
let tail: Promise<unknown> = Promise.resolve();

// The number of pending changes of each request. The page already shows their result.
const waiting = new Map<string, number>();

export const busy = () => waiting.size > 0;

function wait(rows: Row[], by: 1 | -1): void {
  for (const { id } of rows) {
    const left = (waiting.get(id) ?? 0) + by;
    if (left > 0) waiting.set(id, left);
    else waiting.delete(id);
  }
}

const settled = (rows: Row[]) => rows.filter((row) => !waiting.has(row.id));

// carryOut shows the result of a job, sends the job, and reverts what fails.
export async function carryOut(job: Job): Promise<void> {
  const goneFrom = job.goneFrom ?? new Map();
  stopReading();
  const rows = job.steps.flatMap((step) => step.pairs.map((pair) => pair.after));
  place(rows, job.to, goneFrom);
  wait(rows, 1);
  tail = tail.catch(() => undefined).then(() => make(job, goneFrom, () => wait(rows, -1)));
  await tail;
}

async function make(job: Job, goneFrom: GoneFrom, over: () => void): Promise<void> {
  const stop = new AbortController();
  const total = job.steps.reduce((n, step) => n + step.pairs.length, 0);
  const made: Pair[] = [];
  let failed: unknown;
  let at = 0;
  for (; at < job.steps.length && !stop.signal.aborted; at++) {
    const step = job.steps[at]!;
    if (job.steps.length > 1) report({ text: job.doing, done: made.length, total, stop });
    try {
      const answer = await step.run();
      for (const pair of step.pairs) if (answer?.id === pair.after.id) pair.after = rowOf(answer);
    } catch (error) {
      failed = error;
      break;
    }
    made.push(...step.pairs);
  }
  report(undefined);
  over();
  const rest = job.steps.slice(at);
  place(rest.flatMap((step) => step.pairs.map((pair) => pair.before)), job.from, goneFrom);
  place(settled(made.map((pair) => pair.after)), job.to, goneFrom);
  if (job.whole) await restart().catch(notifyError);
  await reload(job.also ?? []);
  invalidate([...made.map((pair) => pair.after), ...(job.also ?? [])]);
  const undo = made.length && job.inverse ? once(() => revert(job, made, goneFrom)) : undefined;
  if (failed || rest.length) await reportRest(failed, made.length, total, rest, undo);
  else notify(job.done, undo && { undo });
}

// invalidate makes the page read the details of changed requests again.
function invalidate(rows: Row[]): void {
  const ids = new Set<unknown>(rows.map((row) => row.id));
  void queryClient.invalidateQueries({
    queryKey: ["requests"],
    predicate: ({ queryKey: [, kind, id] }) => kind === "facets" || (kind !== "list" && ids.has(id)),
  });
  void queryClient.invalidateQueries({ queryKey: ["tags"] });
}

// reportRest says why a change was not made, or only in part, and shows the current state.
async function reportRest(failed: unknown, made: number, total: number, rest: Step[], undo: (() => void) | undefined): Promise<void> {
  if (made) notify(`Updated ${number(made)} of ${number(total)} requests.`, undo && { undo });
  if (!failed) return;
  const changed = failed instanceof ApiError && (failed.status === 404 || failed.status === 409);
  if (failed instanceof ApiError && failed.code === "requests.version_conflict") {
    refuse(`Someone else changed “${rest[0]?.pairs[0]?.before.title}”. You now see their change; yours was not saved.`);
  } else if (failed instanceof ApiError && failed.code === "requests.not_found") {
    refuse(`Someone else deleted “${rest[0]?.pairs[0]?.before.title}”. Your change was not saved.`);
  } else {
    notifyError(failed);
  }
  if (failed instanceof ApiError && failed.code === "requests.count_mismatch") await restart().catch(notifyError);
  else if (changed) await reload((rest[0]?.pairs ?? []).slice(0, 50).map((pair) => pair.before));
}

// refuse says why a change is not made.
export function refuse(reason: string): void {
  notifyError(new ApiError("requests.refused", reason, 0));
}

// reload reads requests again that someone else has changed.
export async function reload(rows: Row[]): Promise<void> {
  for (const some of chunks(rows, 6)) {
    await Promise.all(some.map(async (row) => {
      try {
        const { request } = await call("requests-get", { id: row.id });
        place([rowOf(request)], undefined);
        queryClient.setQueryData(requestQuery(row.id).queryKey, request);
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) return;
        place([row], "bin");
        void queryClient.invalidateQueries({ queryKey: requestQuery(row.id).queryKey });
      }
    }));
  }
}

// revert undoes a job.
async function revert(job: Job, made: Pair[], goneFrom: GoneFrom): Promise<void> {
  const pairs = made.map(({ before, after }) => ({ before: after, after: { ...before, version: after.version + 1 } }));
  await carryOut({
    steps: job.inverse!(pairs),
    ...(job.to && { from: job.to }),
    ...(job.from && { to: job.from }),
    ...(job.also && { also: job.also }),
    ...(job.whole && { whole: true }),
    doing: "Undoing",
    done: "Undone.",
    goneFrom,
  });
}

function once(run: () => Promise<void>): () => void {
  const undo = () => {
    const at = undoable.indexOf(undo);
    if (at < 0) return;
    undoable.splice(at, 1);
    void run();
  };
  undoable.push(undo);
  if (undoable.length > 20) undoable.shift();
  return undo;
}

// undoLatest undoes the latest change, even if its notice has gone. It waits for changes that
// are under way, because the user means them.
export async function undoLatest(): Promise<void> {
  await tail.catch(() => undefined);
  if (!undoLast()) undoable.at(-1)?.();
}
