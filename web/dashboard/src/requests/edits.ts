import type { Params } from "../api/call";
import type { Triaged } from "../api/outbox";
import type { Status } from "../api/types";
import { fold } from "./fold";
import type { Row } from "./rows";

export type Edit = {
  status?: Status;
  assignee_id?: string | null;
  hidden?: boolean;
  eta?: string | null;
  add_tags?: string[];
  remove_tags?: string[];
};

export type BulkSet = Params<"requests-bulk-update">["set"];

// A row before and after a change.
export type Pair = { before: Row; after: Row };

function without(tags: string[], others: string[] = []): string[] {
  const folded = new Set(others.map(fold));
  return tags.filter((tag) => !folded.has(fold(tag)));
}

// edited returns a row after an edit. A merged row keeps its status until it is unmerged.
export function edited<R extends Triaged>(row: R, edit: Edit): R {
  const next = { ...row };
  if (edit.status && !row.merged_into_id) next.status = edit.status;
  if (edit.assignee_id !== undefined) next.assignee_id = edit.assignee_id;
  if (edit.hidden !== undefined) next.hidden = edit.hidden;
  if (edit.eta !== undefined) next.eta = edit.eta;
  if (edit.add_tags || edit.remove_tags) {
    const kept = without(row.tags, edit.remove_tags);
    next.tags = [...kept, ...without(edit.add_tags ?? [], kept)];
  }
  return next;
}

// differs reports whether a change alters a row, and so its version.
export function differs(a: Triaged, b: Triaged): boolean {
  const fields = ["status", "assignee_id", "hidden", "eta"] as const;
  return fields.some((name) => a[name] !== b[name]) || a.tags.join() !== b.tags.join();
}

// changedBy returns a request after the change from one row to another.
export function changedBy<R extends Triaged>({ before, after }: Pair, request: R): R {
  const { merged_into_id } = before.merged_into_id === after.merged_into_id ? request : after;
  return { ...edited(request, editOf({ before, after })), merged_into_id };
}

// editOf returns the edit from the row before to the row after.
export function editOf({ before, after }: Pair): Edit {
  const added = without(after.tags, before.tags);
  const removed = without(before.tags, after.tags);
  return {
    ...(before.status !== after.status && { status: after.status }),
    ...(before.assignee_id !== after.assignee_id && { assignee_id: after.assignee_id }),
    ...(before.hidden !== after.hidden && { hidden: after.hidden }),
    ...(before.eta !== after.eta && { eta: after.eta }),
    ...(added.length && { add_tags: added }),
    ...(removed.length && { remove_tags: removed }),
  };
}

// bulkSet returns the part of an edit that one call can make to many requests: all but the ETA.
export function bulkSet(edit: Edit): BulkSet | undefined {
  const { eta: _, assignee_id, status, ...rest } = edit;
  const set: BulkSet = { ...rest, ...(assignee_id !== undefined && { assignee_id: assignee_id ?? "none" }) };
  if (status && status !== "duplicate") set.status = status;
  return Object.keys(set).length ? set : undefined;
}

// grouped groups the pairs that get the same edit.
export function grouped(pairs: Pair[], edit: (pair: Pair) => Edit): { edit: Edit; pairs: Pair[] }[] {
  const groups = new Map<string, { edit: Edit; pairs: Pair[] }>();
  for (const pair of pairs) {
    const own = edit(pair);
    const key = JSON.stringify(own);
    const group = groups.get(key);
    if (group) group.pairs.push(pair);
    else groups.set(key, { edit: own, pairs: [pair] });
  }
  return [...groups.values()];
}

export function chunks<T>(all: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
