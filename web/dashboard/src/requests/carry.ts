import { ApiError } from "../api/call";
import { outbox, type Change } from "../api/outbox";
import { queryClient } from "../api/queries";
import type { Box, FeatureRequest } from "../api/types";
import { count, number } from "../ui/marks";
import { notify, notifyError, undoLast } from "../ui/notices";
import { changedBy, chunks, type Pair } from "./edits";
import { place, restart, stopReading, type GoneFrom } from "./lists";
import { report } from "./progress";
import { readRequest, requestQuery, rowOf, type Row } from "./rows";

// A Step is one call of a change, for some of its rows. It may return the changed row. If the
// service refuses a step whose answer was lost before, it may have made it: apart makes the same
// step in smaller ones, which can be repeated.
export type Step = { pairs: Pair[]; run(): Promise<FeatureRequest | void>; apart?(): Step[] };

// A Job is a change that is shown at once and then sent. from and to are set if it moves
// requests to another box.
type Job = {
  steps: Step[];
  from?: Box | undefined;
  to?: Box | undefined;
  doing: string;
  done: string;
  undo?: { done: string; steps(pairs: Pair[]): Step[] }; // undefined if it cannot be undone
  also?: Row[]; // other requests whose numbers change
  whole?: boolean; // for all that match a filter, most of which are not loaded
  goneFrom?: GoneFrom;
};

// A Carried job is in the outbox, or was.
type Carried = Change & {
  job: Job;
  from: Box | undefined;
  to: Box | undefined;
  goneFrom: GoneFrom;
  pairs: Map<string, Pair>;
  total: number; // of requests
  steps: Step[]; // the steps that are not made
  made: Pair[];
  unsure: Set<Pair>; // sent without an answer
  calling: boolean;
  told: boolean; // whether a notice says what it does
  undone: boolean; // during a call, whose answer decides what is left to undo
};

// How many requests are read again after a refusal.
const mostReloaded = 50;

// The changes that can be undone, the latest last.
const undoable: Carried[] = [];

// carryOut shows the result of a job, sends the job, and reverts what the service refuses.
export async function carryOut(job: Job): Promise<void> {
  stopReading();
  const change: Carried = {
    job,
    from: job.from,
    to: job.to,
    goneFrom: job.goneFrom ?? new Map(),
    pairs: byID(job.steps),
    total: pairsOf(job.steps).length,
    steps: [...job.steps],
    made: [],
    unsure: new Set(),
    calling: false,
    hidden: false,
    told: false,
    undone: false,
    send: () => make(change),
    applied(request, box) {
      const pair = change.pairs.get(request.id);
      if (pair && box && change.to && change.to !== box) return undefined;
      return pair ? changedBy(pair, request) : request;
    },
    continueFrom(row) {
      const pair = change.pairs.get(row.id);
      if (!pair || change.hidden) return row;
      const next = changedBy(pair, row);
      pair.before = { ...pair.before, ...row };
      pair.after = { ...pair.after, ...next, version: row.version + 1 };
      return { ...next, version: row.version + 1 };
    },
  };
  // The version is not the next one yet, so that changes of others still show.
  place(pairsOf(change.steps).map(({ before, after }) => ({ ...after, version: before.version })), change.to, change.goneFrom);
  if (job.undo) undoable.push(change);
  if (undoable.length > 20) undoable.shift();
  const over = outbox.put(change);
  if (outbox.stopped()) tell(change);
  await over;
}

const pairsOf = (steps: Step[]) => steps.flatMap((step) => step.pairs);
const byID = (steps: Step[]) => new Map(pairsOf(steps).map((pair) => [pair.before.id, pair]));

// tell says what a change does while it waits.
function tell(change: Carried): void {
  if (!change.told && !change.hidden) notify(change.job.done, undoOf(change));
  change.told = true;
}

// make sends the steps of a change, each until the service answers.
async function make(change: Carried): Promise<void> {
  const { job } = change;
  const stop = new AbortController();
  let failed: unknown;
  while (change.steps.length > 0 && !stop.signal.aborted && !failed) {
    const more = change.steps.length > 1 || change.made.length > 0;
    if (more && !change.hidden) report({ text: job.doing, done: change.made.length, total: change.total, stop });
    const outage = await makeNext(change).catch((error: unknown) => void (failed = error));
    if (change.undone) {
      failed = undefined;
      unmake(change);
    }
    if (!outage || stop.signal.aborted) continue;
    report(undefined);
    tell(change);
    await outbox.pause(outage);
  }
  report(undefined);
  outbox.remove(change);
  const { made, steps: rest } = change;
  show(change, pairsOf(rest).map((pair) => pair.before), change.from);
  show(change, made.map((pair) => pair.after), change.to);
  if (job.whole) await restart().catch(notifyError);
  await reload(job.also ?? []);
  invalidate([...made.map((pair) => pair.after), ...(job.also ?? [])]);
  if (!made.length) forgetUndo(change);
  if (failed || rest.length) await reportRest(change, failed);
  else if (!change.told) notify(job.done, undoOf(change));
  else if (!change.hidden && !outbox.waiting()) notify("All changes are saved.", undoOf(change));
}

// makeNext makes the next step. It returns the error if the service did not answer, and throws
// the error if it refused.
async function makeNext(change: Carried): Promise<ApiError | undefined> {
  const step = change.steps[0]!;
  change.calling = true;
  try {
    const answer = await step.run();
    for (const pair of step.pairs) {
      if (answer?.id === pair.after.id) pair.after = rowOf(answer);
      change.unsure.delete(pair);
    }
    change.steps.shift();
    change.made.push(...step.pairs);
    outbox.answered();
  } catch (error) {
    if (error instanceof ApiError && error.temporary) {
      for (const pair of step.pairs) change.unsure.add(pair);
      return error;
    }
    outbox.answered();
    if (step.apart && step.pairs.some((pair) => change.unsure.has(pair))) {
      change.steps.splice(0, 1, ...step.apart());
    } else {
      for (const pair of step.pairs) change.unsure.delete(pair);
      throw error;
    }
  } finally {
    change.calling = false;
  }
  return undefined;
}

// show shows rows as they are now, with the changes that wait. Those after a change continue
// from there.
function show(change: Carried, rows: Row[], box: Box | undefined): void {
  for (const row of rows) outbox.continueFrom(row, change);
  place(rows.flatMap((row) => outbox.applied(row, box ?? "live") ?? []), box, change.goneFrom);
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
async function reportRest(change: Carried, failed: unknown): Promise<void> {
  const { made, steps, hidden, total } = change;
  const rest = pairsOf(steps).map((pair) => pair.before);
  if (hidden) return reload(rest.slice(0, mostReloaded));
  if (made.length) notify(`Updated ${number(made.length)} of ${number(total)} requests.`, undoOf(change));
  if (!failed) return;
  const code = failed instanceof ApiError ? failed.code : "";
  const first = steps[0]?.pairs[0]?.before;
  if (code === "requests.version_conflict") {
    refuse(`Someone else changed “${first?.title}”. You now see their change; yours was not saved.`);
  } else if (code === "requests.not_found") {
    refuse(`Someone else deleted “${first?.title}”. Your change was not saved.`);
  } else {
    notifyError(failed, `Your change of ${subject(rest)} was not saved.`);
  }
  if (code === "requests.count_mismatch") await restart().catch(notifyError);
  else if (failed instanceof ApiError && (failed.status === 404 || failed.status === 409)) await reload(rest.slice(0, mostReloaded));
}

// subject names the requests of a change.
export function subject(rows: Row[]): string {
  return rows.length === 1 ? `“${rows[0]!.title}”` : count(rows.length, "request");
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
        const request = await readRequest(row.id);
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

// opposite returns the pair that undoes a pair.
const opposite = ({ before, after }: Pair): Pair => ({ before: after, after: { ...before, version: after.version + 1 } });

// revert undoes a change that was made.
async function revert({ job, made, goneFrom }: Carried): Promise<void> {
  await carryOut({
    steps: job.undo!.steps(made.map(opposite)),
    from: job.to,
    to: job.from,
    ...(job.also && { also: job.also }),
    ...(job.whole && { whole: true }),
    doing: "Undoing",
    done: job.undo!.done,
    goneFrom,
  });
}

// withdraw takes back a change that is in the outbox. The page shows this at once, even during a call.
function withdraw(change: Carried): void {
  const { job } = change;
  const pairs = [...change.pairs.values()];
  change.hidden = true;
  change.told = true;
  change.pairs = new Map(pairs.map((pair) => [pair.before.id, opposite(pair)]));
  [change.from, change.to] = [job.to, job.from];
  show(change, pairs.map((pair) => pair.before), job.from);
  outbox.changed();
  notify(job.undo!.done);
  change.undone = change.calling;
  if (!change.undone) unmake(change);
}

// unmake undoes what was made of a withdrawn change, or may have been made without an answer, when
// the service answers: this changes nothing if it was not made.
function unmake(change: Carried): void {
  const sent = [...change.made, ...change.unsure].map(opposite);
  change.steps = sent.length ? change.job.undo!.steps(sent) : [];
  change.pairs = byID(change.steps);
  change.made = [];
  change.unsure = new Set();
  change.undone = false;
  if (!sent.length) outbox.remove(change);
}

const undoOf = (change: Carried) => (undoable.includes(change) ? { undo: () => undo(change) } : {});

function undo(change: Carried): void {
  if (!undoable.includes(change)) return;
  forgetUndo(change);
  if (outbox.has(change)) withdraw(change);
  else void revert(change);
}

function forgetUndo(change: Carried): void {
  const at = undoable.indexOf(change);
  if (at >= 0) undoable.splice(at, 1);
}

// undoLatest undoes the latest change, even if its notice has gone or is not there yet. It returns the id
// of the first request of the change.
export function undoLatest(): string | undefined {
  const latest = undoable.at(-1);
  const id = latest?.pairs.keys().next().value;
  if (latest && !latest.told && outbox.has(latest)) undo(latest);
  else if (!undoLast() && latest) undo(latest);
  return id;
}
