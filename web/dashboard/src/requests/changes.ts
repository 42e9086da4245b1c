import { ApiError, call } from "../api/call";
import type { FeatureRequest, Status } from "../api/types";
import { appsQuery, queryClient, usersQuery } from "../api/queries";
import { count, number } from "../ui/marks";
import { notify, notifyError } from "../ui/notices";
import { carryOut, refuse, subject, undoLatest, type Step } from "./carry";
import { bulkSet, chunks, differs, edited, editOf, grouped, type BulkSet, type Edit, type Pair } from "./edits";
import { etaText } from "./eta";
import { restart } from "./lists";
import { report } from "./progress";
import { readRows, rowOf, type Row, type Rows } from "./rows";
import { statusName } from "./statuses";
import { shared, type Matching, type Target, type Targeted } from "./target";

// The limits of a call, and of the changes that need a call for each request.
const mostIDs = 1_000;
const mostMatching = 10_000;
const mostETAs = 1_000;
const mostMerged = 50;

// In all changes, quiet means that the people who asked or voted are not told. An undo is always quiet.

// The latest edit, which can be repeated on other requests.
let latest: { edit: Edit; quiet: boolean } | undefined;

async function repeat(target: Target): Promise<void> {
  if (latest) await update(target, latest.edit, latest.quiet);
  else notify("Nothing to repeat yet.");
}

async function update(target: Target, edit: Edit, quiet = false): Promise<void> {
  latest = { edit, quiet };
  const rows = await rowsOf(target);
  if (!rows) return;
  if (edit.eta !== undefined && rows.length > mostETAs) {
    refuse(`You can set the ETA of at most ${number(mostETAs)} requests at once. You selected ${number(rows.length)}.`);
    return;
  }
  const pairs = rows.map((row) => pairOf(row, edited(row, edit)));
  const changing = pairs.filter(({ before, after }) => differs(before, after));
  if (changing.length === 0) {
    notify(
      rows.some((row) => row.merged_into_id)
        ? "Merged requests keep their status. Unmerge them first."
        : "Nothing to change.",
    );
    return;
  }
  const whole = "matching" in target && changing.length === rows.length ? target : undefined;
  await carryOut({
    steps: edits(changing, () => edit, quiet, whole),
    whole: "matching" in target,
    doing: "Updating requests",
    done: sentence(changing.map((pair) => pair.before), edit) + merged(rows, edit),
    undo: { done: undoneSentence(changing.map((pair) => pair.before), edit), steps: (again) => edits(again, editOf, true) },
  });
}

// edits returns the calls that edit rows. A single row is sent with its version; several rows
// share as few calls as possible.
function edits(pairs: Pair[], edit: (pair: Pair) => Edit, quiet: boolean, whole?: Matching): Step[] {
  if (pairs.length === 1) return [single(pairs[0]!, edit(pairs[0]!), quiet)];
  const steps: Step[] = [];
  for (const group of grouped(pairs, edit)) {
    const set = bulkSet(group.edit);
    const { eta: _, ...others } = group.edit;
    if (set) steps.push(...bulk(group.pairs, { set, ...quietly(quiet) }, (pair) => single(pair, others, quiet), whole));
    if (group.edit.eta === undefined) continue;
    for (const pair of group.pairs) {
      steps.push({
        pairs: [pair],
        run: async () => (await call("requests-update", { id: pair.before.id, eta: pair.after.eta as string })).request,
      });
    }
  }
  return steps;
}

// single edits one request. Votes and comments also change the version. So after a conflict, it
// tries again on the new version unless someone else changed the same fields. If they already are
// as the user wants them, such as after an answer that was lost, there is nothing to do.
function single(pair: Pair, edit: Edit, quiet: boolean): Step {
  const { add_tags, remove_tags, status, ...rest } = edit;
  const fields = Object.keys(edit).map((name) => (name.endsWith("_tags") ? "tags" : name) as keyof Targeted);
  const make = async (version: number): Promise<FeatureRequest> => {
    try {
      const { request } = await call("requests-update", {
        id: pair.before.id,
        expected_version: version,
        ...(rest as { assignee_id?: string; hidden?: boolean; eta?: string }),
        ...(status && status !== "duplicate" && { status }),
        ...((add_tags || remove_tags) && { tags: pair.after.tags }),
        ...quietly(quiet),
      });
      return request;
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "requests.version_conflict")) throw error;
      const { request: now } = await call("requests-get", { id: pair.before.id });
      if (!differs(now, edited(now, edit))) return now;
      if (fields.some((field) => String(now[field]) !== String(pair.before[field]))) throw error;
      return make(now.version);
    }
  };
  return { pairs: [pair], run: () => make(pair.before.version) };
}

// bulk changes many requests with few calls. apart changes one of them.
function bulk(pairs: Pair[], change: { set: BulkSet; quiet?: true }, apart: (pair: Pair) => Step, whole?: Matching): Step[] {
  const byIDs = () => chunks(pairs, mostIDs).map((some) => ({
    pairs: some,
    run: async () => void (await call("requests-bulk-update", { ids: some.map((pair) => pair.before.id), ...change })),
    apart: () => some.map(apart),
  }));
  if (!whole || pairs.length > mostMatching) return byIDs();
  return [
    {
      pairs,
      run: async () => void (await call("requests-bulk-update", { filter: whole.matching, expected_count: pairs.length, ...change })),
      apart: byIDs,
    },
  ];
}

type Move = {
  from: "live" | "bin" | "quarantine";
  to: "live" | "bin";
  doing: string;
  done: string;
  undone?: string; // if it can be undone
  one(id: string): Promise<FeatureRequest | void>;
};

// A request that is already gone is as the user wants it.
const gone = (error: unknown) => {
  if (!(error instanceof ApiError && error.code === "requests.not_found")) throw error;
};
const binned = (id: string) => call("requests-delete", { id }).then(() => undefined, gone);
const restored = async (id: string) => (await call("requests-restore", { id })).request;

// The service puts nothing back into quarantine, so leaving it cannot be undone.
const moves = {
  remove: { from: "live", to: "bin", doing: "Deleting", done: "moved to the bin", undone: "back from the bin", one: binned },
  restore: { from: "bin", to: "live", doing: "Restoring", done: "restored", undone: "back in the bin", one: restored },
  release: {
    from: "quarantine",
    to: "live",
    doing: "Releasing",
    done: "released from quarantine",
    one: async (id) => (await call("requests-release", { id })).request,
  },
  block: {
    from: "quarantine",
    to: "bin",
    doing: "Blocking",
    done: "moved to the bin as spam",
    one: (id) => call("requests-block", { id }).then(() => undefined, gone),
  },
} satisfies Record<string, Move>;

async function move(target: Target, kind: keyof typeof moves): Promise<void> {
  const rows = await rowsOf(target);
  if (!rows) return;
  const { from, to, doing, done, undone, one }: Move = moves[kind];
  const steps = (pairs: Pair[], box: "live" | "bin", each: typeof one, whole?: Matching): Step[] => {
    const apart = (pair: Pair) => ({ pairs: [pair], run: () => each(pair.before.id) });
    return pairs.length === 1 ? pairs.map(apart) : bulk(pairs, { set: { box } }, apart, whole);
  };
  await carryOut({
    steps: steps(
      rows.map((row) => ({ before: row, after: { ...row, version: row.version + 1 } })),
      to,
      one,
      "matching" in target ? target : undefined,
    ),
    from,
    to,
    whole: "matching" in target,
    doing: `${doing} requests`,
    done: `${subject(rows)} ${done}.`,
    ...(undone && {
      undo: {
        done: `Undone. ${subject(rows)} ${isOrAre(rows)} ${undone}.`,
        steps: (pairs: Pair[]) => (from === "live" ? steps(pairs, "live", restored) : steps(pairs, "bin", binned)),
      },
    }),
  });
}

async function merge(ids: string[], into: FeatureRequest | Row, quiet = false): Promise<void> {
  const wanted = ids.filter((id) => id !== into.id);
  if (wanted.length > mostMerged) {
    refuse(`You can merge at most ${mostMerged} requests at once. You selected ${number(wanted.length)}.`);
    return;
  }
  const found = await Promise.all(wanted.map(rowByID));
  const rows = found.filter((row) => row !== undefined);
  if (rows.length === 0) return;
  const calls = (pairs: Pair[], one: (id: string) => Promise<FeatureRequest>): Step[] =>
    pairs.map((pair) => ({ pairs: [pair], run: () => one(pair.before.id) }));
  await carryOut({
    also: [rowOf(into)],
    steps: calls(
      rows.map((row) => ({
        before: row,
        after: { ...row, status: "duplicate" as const, merged_into_id: into.id, version: row.version + 1 },
      })),
      async (id) => (await call("requests-merge", { id, into_id: into.id, ...quietly(quiet) })).request,
    ),
    doing: "Merging requests",
    done: `${subject(rows)} merged into “${into.title}”.`,
    undo: {
      done: "Merge undone.",
      steps: (pairs) => calls(pairs.toReversed(), async (id) => (await call("requests-unmerge", { id, quiet: true })).request),
    },
  });
}

async function unmerge(request: FeatureRequest | Row, quiet: boolean): Promise<void> {
  const row = rowOf(request);
  const into = row.merged_into_id && (await rowByID(row.merged_into_id));
  await carryOut({
    also: into ? [into] : [],
    steps: [
      {
        pairs: [{ before: row, after: { ...row, merged_into_id: null, version: row.version + 1 } }],
        run: async () => (await call("requests-unmerge", { id: row.id, ...quietly(quiet) })).request,
      },
    ],
    doing: "Unmerging requests",
    done: `“${row.title}” unmerged.`,
  });
}

const quietly = (quiet: boolean) => (quiet ? { quiet } : {});

// rowsOf returns the rows of a target. It reads all rows that match a filter, so that the change
// can be undone. It returns undefined if they are no longer the ones that the user saw.
async function rowsOf(target: Target): Promise<Row[] | undefined> {
  if ("requests" in target) return target.requests.map(rowOf);
  const rows: Row[] = [];
  const stop = new AbortController();
  try {
    for (let cursor = "", first = true; cursor || first; first = false) {
      report({ text: "Loading requests", done: rows.length, total: target.count, stop });
      const page = await readRows(target.matching, "newest", cursor, 200, stop.signal);
      rows.push(...page.rows);
      cursor = page.next;
    }
  } catch (error) {
    if (!stop.signal.aborted) notifyError(error, "Nothing was changed.");
    return undefined;
  } finally {
    report(undefined);
  }
  if (rows.length === target.count || target.atLeast) return rows;
  refuse(`The filter now matches ${number(rows.length)} requests instead of ${number(target.count)}. Check the list and try again.`);
  await restart().catch(notifyError);
  return undefined;
}

async function rowByID(id: string): Promise<Row | undefined> {
  for (const [, data] of queryClient.getQueriesData<Rows>({ queryKey: ["requests", "list"] })) {
    for (const page of data?.pages ?? []) {
      const row = page.rows.find((one) => one.id === id);
      if (row) return row;
    }
  }
  try {
    return rowOf((await call("requests-get", { id })).request);
  } catch (error) {
    notifyError(error);
    return undefined;
  }
}

function pairOf(before: Row, after: Row): Pair {
  return { before, after: differs(before, after) ? { ...after, version: before.version + 1 } : after };
}

const isOrAre = (rows: Row[]) => (rows.length === 1 ? "is" : "are");

// sentence describes the result of an edit.
function sentence(rows: Row[], edit: Edit): string {
  const are = isOrAre(rows);
  const [name, ...others] = Object.keys(edit);
  if (others.length) return `${subject(rows)} updated.`;
  if (name === "status") return `${subject(rows)} ${are} now ${nameOfStatus(rows, edit.status!)}.`;
  if (name === "assignee_id") {
    const user = queryClient.getQueryData(usersQuery.queryKey)?.find((one) => one.id === edit.assignee_id);
    return `${subject(rows)} ${are} now ${edit.assignee_id ? `assigned to ${user?.name ?? "someone else"}` : "unassigned"}.`;
  }
  if (name === "hidden") return `${subject(rows)} ${are} ${edit.hidden ? "now hidden" : "no longer hidden"}.`;
  if (name === "eta") return edit.eta ? `ETA of ${subject(rows)} set to ${etaText(edit.eta)}.` : `ETA of ${subject(rows)} removed.`;
  const tags = (edit.add_tags ?? edit.remove_tags ?? []).map((tag) => `“${tag}”`).join(", ");
  return `${subject(rows)} ${are} ${name === "add_tags" ? "now" : "no longer"} tagged ${tags}.`;
}

// undoneSentence describes the undo of an edit. rows are as they were before the edit.
function undoneSentence(rows: Row[], edit: Edit): string {
  const [name, ...others] = Object.keys(edit);
  const status = name === "status" && !others.length && shared({ requests: rows }, (row) => row.status);
  if (!status) return `Change to ${subject(rows)} undone.`;
  return `Undone. ${subject(rows)} ${isOrAre(rows)} back to ${nameOfStatus(rows, status)}.`;
}

function nameOfStatus(rows: Row[], status: Status): string {
  const app = shared({ requests: rows }, (row) => row.app_id);
  return statusName(queryClient.getQueryData(appsQuery.queryKey), status, app);
}

// merged says how many of the rows keep their status.
function merged(rows: Row[], edit: Edit): string {
  const kept = edit.status ? rows.filter((row) => row.merged_into_id).length : 0;
  if (kept === 0) return "";
  return ` ${count(kept, "merged request keeps its", "merged requests keep their")} status.`;
}

const changes = {
  update,
  repeat,
  merge,
  unmerge,
  remove: (target: Target) => move(target, "remove"),
  restore: (target: Target) => move(target, "restore"),
  release: (target: Target) => move(target, "release"),
  block: (target: Target) => move(target, "block"),
  undo: undoLatest,
};

// useChanges returns all changes of requests. Each shows at once, is reverted with a notice if
// it fails, and can be undone if the service supports it.
export function useChanges(): typeof changes {
  return changes;
}
