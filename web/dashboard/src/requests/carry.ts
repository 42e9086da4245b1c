import { ApiError, call } from "../api/call";
import { queryClient } from "../api/queries";
import type { Box, FeatureRequest } from "../api/types";
import { number } from "../ui/marks";
import { notify, notifyError, undoLast } from "../ui/notices";
import { chunks, type Pair } from "./edits";
import { place, restart, stopReading, type GoneFrom } from "./lists";
import { report } from "./progress";
import { requestQuery, rowOf, type Row } from "./rows";

// One call of a change, for some of its rows. It may return the row as it became.
export type Step = { pairs: Pair[]; run(): Promise<FeatureRequest | void> };

// A change that is shown at once and then made. Boxes are given when it moves requests.
type Job = {
  steps: Step[];
  from?: Box;
  to?: Box;
  doing: string;
  done: string;
  inverse?: (pairs: Pair[]) => Step[];
  also?: Row[]; // others whose numbers change with it
  whole?: boolean; // of all that match, most of which no list has loaded
  goneFrom?: GoneFrom;
};

// The changes that can be undone, the latest last.
const undoable: (() => void)[] = [];

// Changes are made one after another, so that each one knows the version that the one
// before it made.
let tail: Promise<unknown> = Promise.resolve();

// How many changes each request is waiting for: what it becomes by all of them is shown
// already.
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

// carryOut shows what a job changes, makes the change, and takes back what fails.
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
  outdate([...made.map((pair) => pair.after), ...(job.also ?? [])]);
  const undo = made.length && job.inverse ? once(() => takeBack(job, made, goneFrom)) : undefined;
  if (failed || rest.length) await tellRest(failed, made.length, total, rest, undo);
  else notify(job.done, undo && { undo });
}

// outdate lets be read again what is shown about requests that have changed.
function outdate(rows: Row[]): void {
  const ids = new Set<unknown>(rows.map((row) => row.id));
  void queryClient.invalidateQueries({
    queryKey: ["requests"],
    predicate: ({ queryKey: [, kind, id] }) => kind === "facets" || (kind !== "list" && ids.has(id)),
  });
  void queryClient.invalidateQueries({ queryKey: ["tags"] });
}

// tellRest says why a change was not made, or not wholly, and shows what is true by now.
async function tellRest(failed: unknown, made: number, total: number, rest: Step[], undo: (() => void) | undefined): Promise<void> {
  if (made) notify(`${number(made)} of ${number(total)} requests were changed.`, undo && { undo });
  if (!failed) return;
  const changed = failed instanceof ApiError && (failed.status === 404 || failed.status === 409);
  if (failed instanceof ApiError && failed.code === "requests.version_conflict") {
    refuse(
      `“${rest[0]?.pairs[0]?.before.title}” was changed by somebody else meanwhile. You see it as it is now; your change was not made.`,
    );
  } else if (failed instanceof ApiError && failed.code === "requests.not_found") {
    refuse(`“${rest[0]?.pairs[0]?.before.title}” is not here any more: somebody else deleted it. Your change was not made.`);
  } else {
    notifyError(failed);
  }
  if (failed instanceof ApiError && failed.code === "requests.count_mismatch") await restart().catch(notifyError);
  else if (changed) await reload((rest[0]?.pairs ?? []).slice(0, 50).map((pair) => pair.before));
}

// refuse says why nothing is done.
export function refuse(reason: string): void {
  notifyError(new ApiError("requests.refused", reason, 0));
}

// reload reads requests again that somebody else has changed.
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

// takeBack is the change that undoes another one.
async function takeBack(job: Job, made: Pair[], goneFrom: GoneFrom): Promise<void> {
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

// undoLatest undoes what was done last, whether its notice is still there or not. What is
// still under way is waited for, as that is what is meant.
export async function undoLatest(): Promise<void> {
  await tail.catch(() => undefined);
  if (!undoLast()) undoable.at(-1)?.();
}
