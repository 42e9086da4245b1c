import { queryClient } from "../api/queries";
import type { Box, FeatureRequest, Sort, Where } from "../api/types";
import { fold } from "./fold";
import { readRows, requestQuery, type Row, type Rows } from "./rows";

// The rows that have left each list, and where they were. Reverting a change puts them back,
// because this code cannot tell which rows match a filter with words.
export type GoneFrom = Map<string, Gone>;
type Gone = Map<string, number>;
type Returning = { row: Row; at: number };

const lists = ["requests", "list"] as const;

// matches reports whether a row still matches a filter after a change. If box is undefined, the
// row has not moved.
function matches(row: Row, box: Box | undefined, where: Where): boolean {
  const statuses = where.status === undefined ? undefined : [where.status].flat();
  const tag = where.tag && fold(where.tag);
  return (
    (box === undefined || box === (where.box ?? "live")) &&
    (!statuses || statuses.includes(row.status)) &&
    (!where.assignee_id || where.assignee_id === (row.assignee_id ?? "none")) &&
    (where.hidden === undefined || where.hidden === row.hidden) &&
    (!tag || row.tags.some((own) => fold(own) === tag))
  );
}

// stopReading cancels reads of lists, which may be older than a change, and drops lists that are
// not shown. It does not wait for the canceled reads: the next key must find the changed row.
export function stopReading(): void {
  queryClient.removeQueries({ queryKey: lists, type: "inactive" });
  // A first read must finish, or the list would never show anything.
  void queryClient.cancelQueries({ queryKey: lists, predicate: (query) => query.state.data !== undefined });
}

// restart reads the first page of the shown lists again. The old rows stay until it arrives.
export async function restart(): Promise<void> {
  for (const { queryKey } of queryClient.getQueryCache().findAll({ queryKey: lists, type: "active" })) {
    const [, , where, sort] = queryKey as [string, string, Where, Sort];
    const page = await readRows(where, sort, "", 100);
    await queryClient.cancelQueries({ queryKey });
    queryClient.setQueryData(queryKey, { pages: [page], pageParams: [""] });
  }
}

// place updates rows in all lists. It removes them from lists that they no longer match, and
// puts them back into lists that they have left and match again.
export function place(rows: Row[], box: Box | undefined, goneFrom: GoneFrom = new Map()): void {
  const byID = new Map(rows.map((row) => [row.id, row]));
  for (const query of queryClient.getQueryCache().findAll({ queryKey: lists })) {
    const data = query.state.data as Rows | undefined;
    if (!data) continue;
    const [, , where, sort] = query.queryKey as [string, string, Where, Sort];
    const gone = goneFrom.get(query.queryHash) ?? new Map<string, number>();
    goneFrom.set(query.queryHash, gone);
    queryClient.setQueryData(query.queryKey, placed(data, byID, (row) => matches(row, box, where), gone, sort));
  }
  for (const row of rows) {
    queryClient.setQueryData<FeatureRequest>(requestQuery(row.id).queryKey, (old) => old && { ...old, ...row });
  }
}

// showChanged updates rows that others have changed. The rows stay in place, even if they no
// longer match, so that nothing moves while the user reads.
export function showChanged(rows: Row[]): void {
  const byID = new Map(rows.map((row) => [row.id, row]));
  const fresher = (old: Row) => (byID.get(old.id)?.version ?? 0) > old.version;
  for (const [key, data] of queryClient.getQueriesData<Rows>({ queryKey: lists })) {
    if (!data?.pages.some((page) => page.rows.some(fresher))) continue;
    const pages = data.pages.map((page) =>
      page.rows.some(fresher) ? { ...page, rows: page.rows.map((old) => (fresher(old) ? byID.get(old.id)! : old)) } : page,
    );
    queryClient.setQueryData(key, { ...data, pages });
  }
  for (const { id, version } of rows) {
    const { queryKey } = requestQuery(id);
    if ((queryClient.getQueryData(queryKey)?.version ?? version) < version) void queryClient.invalidateQueries({ queryKey });
  }
}

// placed returns a list with updated rows. Rows of gone that belong to the list come back; rows
// that no longer belong to it are added to gone.
function placed(data: Rows, byID: Map<string, Row>, belongs: (row: Row) => boolean, gone: Gone, sort: Sort): Rows {
  let change = 0;
  const back: Returning[] = [];
  for (const [id, row] of byID) {
    const at = gone.get(id);
    if (at !== undefined && belongs(row)) {
      back.push({ row, at });
      gone.delete(id);
    }
  }
  const has = new Set<string>();
  let at = 0;
  let pages = data.pages.map((page) => {
    const start = at;
    at += page.rows.length;
    if (!page.rows.some((row) => byID.has(row.id))) return page;
    const rows = page.rows.flatMap((old, i) => {
      const row = byID.get(old.id);
      if (!row) return [old];
      has.add(row.id);
      if (belongs(row)) return [row];
      gone.set(row.id, start + i);
      change--;
      return [];
    });
    return { ...page, rows };
  });
  const missing = back.filter(({ row }) => !has.has(row.id));
  if (missing.length) {
    change += missing.length;
    pages = sort === "relevance" ? insertedAt(pages, missing) : inserted(pages, missing.map(({ row }) => row), orders[sort]);
  }
  return { ...data, pages: change ? pages.map((page) => ({ ...page, total: page.total + change })) : pages };
}

// inserted inserts rows in order into the pages that are loaded. Rows after the last page come
// with the next page.
function inserted(pages: Rows["pages"], rows: Row[], order: Order): Rows["pages"] {
  let waiting = rows.toSorted(order);
  return pages.map((page, i) => {
    const end = page.rows.at(-1);
    const here = i === pages.length - 1 && !page.next ? waiting : waiting.filter((row) => end && order(row, end) <= 0);
    if (here.length === 0) return page;
    waiting = waiting.filter((row) => !here.includes(row));
    return { ...page, rows: [...page.rows, ...here].toSorted(order) };
  });
}

// insertedAt inserts rows where they were, because rows do not say how well they match.
function insertedAt(pages: Rows["pages"], back: Returning[]): Rows["pages"] {
  const next = pages.map((page) => ({ ...page, rows: [...page.rows] }));
  for (const { row, at } of back.toSorted((a, b) => a.at - b.at)) {
    let left = at;
    for (const [i, { rows }] of next.entries()) {
      if (left <= rows.length || i === next.length - 1) {
        rows.splice(left, 0, row);
        break;
      }
      left -= rows.length;
    }
  }
  return next;
}

type Order = (a: Row, b: Row) => number;

const orders: Record<Exclude<Sort, "relevance">, Order> = {
  newest: (a, b) => b.created_at.localeCompare(a.created_at),
  oldest: (a, b) => a.created_at.localeCompare(b.created_at),
  most_voted: (a, b) => b.votes - a.votes || orders.newest(a, b),
  recently_updated: (a, b) => b.updated_at.localeCompare(a.updated_at),
};
