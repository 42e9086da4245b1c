import { queryClient } from "../api/queries";
import type { Box, FeatureRequest, Sort, Where } from "../api/types";
import { fold } from "./fold";
import { readRows, requestQuery, type Row, type Rows } from "./rows";

// Which rows have left which list, so that taking back a change puts them there again: a
// filter with words cannot be judged here.
export type GoneFrom = Map<string, Set<string>>;

const lists = ["requests", "list"] as const;

// matches says whether a row is one of those that a filter matches, as far as a change
// can alter it. Without a box, it stays where it is.
function matches(row: Row, box: Box | undefined, where: Where): boolean {
  const statuses = where.status === undefined ? undefined : [where.status].flat();
  const tag = where.tag && fold(where.tag);
  return (
    (box === undefined || box === (where.box ?? "live")) &&
    (!statuses || statuses.includes(row.status)) &&
    (!where.assignee_id || where.assignee_id === (row.assignee_id ?? "none")) &&
    (!tag || row.tags.some((own) => fold(own) === tag))
  );
}

// stopReading stops what is being read, as it may be older than a change, and forgets lists that
// nobody looks at. It takes effect at once: waiting for the end of what was stopped would
// let the next key still find the row as it was.
export function stopReading(): void {
  queryClient.removeQueries({ queryKey: lists, type: "inactive" });
  // What is read for the first time must come, or nothing would ever be shown.
  void queryClient.cancelQueries({ queryKey: lists, predicate: (query) => query.state.data !== undefined });
}

// restart begins the lists that somebody looks at again with their first page, without taking
// away what is shown meanwhile.
export async function restart(): Promise<void> {
  for (const { queryKey } of queryClient.getQueryCache().findAll({ queryKey: lists, type: "active" })) {
    const [, , where, sort] = queryKey as [string, string, Where, Sort];
    const page = await readRows(where, sort, "", 100);
    await queryClient.cancelQueries({ queryKey });
    queryClient.setQueryData(queryKey, { pages: [page], pageParams: [""] });
  }
}

// place puts rows as they are now into all lists that have them, and takes them out of
// those to which they belong no more. It puts them back into those that they had left.
export function place(rows: Row[], box: Box | undefined, goneFrom: GoneFrom = new Map()): void {
  const byID = new Map(rows.map((row) => [row.id, row]));
  for (const query of queryClient.getQueryCache().findAll({ queryKey: lists })) {
    const data = query.state.data as Rows | undefined;
    if (!data) continue;
    const [, , where, sort] = query.queryKey as [string, string, Where, Sort];
    const gone = goneFrom.get(query.queryHash) ?? new Set<string>();
    goneFrom.set(query.queryHash, gone);
    queryClient.setQueryData(query.queryKey, placed(data, byID, (row) => matches(row, box, where), gone, sort));
  }
  for (const row of rows) {
    queryClient.setQueryData<FeatureRequest>(requestQuery(row.id).queryKey, (old) => old && { ...old, ...row });
  }
}

// showChanged shows what others have changed where it stands, even where it belongs no more:
// what somebody reads does not move.
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

// placed is what becomes of a list. Of gone come back those that belong to it; those that
// belong no more are added to it.
function placed(data: Rows, byID: Map<string, Row>, belongs: (row: Row) => boolean, gone: Set<string>, sort: Sort): Rows {
  let change = 0;
  const back: Row[] = [];
  for (const [id, row] of byID) {
    if (gone.has(id) && belongs(row)) {
      back.push(row);
      gone.delete(id);
    }
  }
  const has = new Set<string>();
  let pages = data.pages.map((page) => {
    if (!page.rows.some((row) => byID.has(row.id))) return page;
    const rows = page.rows.flatMap((old) => {
      const row = byID.get(old.id);
      if (!row) return [old];
      has.add(row.id);
      if (belongs(row)) return [row];
      gone.add(row.id);
      change--;
      return [];
    });
    return { ...page, rows };
  });
  const missing = back.filter((row) => !has.has(row.id));
  if (missing.length) {
    change += missing.length;
    pages = inserted(pages, missing, sort);
  }
  return { ...data, pages: change ? pages.map((page) => ({ ...page, total: page.total + change })) : pages };
}

// inserted puts rows where the order says, as far as it has been read. A bigger list is read
// on from its last page, so what lies behind that page comes by itself.
function inserted(pages: Rows["pages"], rows: Row[], sort: Sort): Rows["pages"] {
  const order = orders[sort];
  let waiting = rows.toSorted(order);
  return pages.map((page, i) => {
    const end = page.rows.at(-1);
    const here = i === pages.length - 1 && !page.next ? waiting : waiting.filter((row) => end && order(row, end) <= 0);
    if (here.length === 0) return page;
    waiting = waiting.filter((row) => !here.includes(row));
    return { ...page, rows: [...page.rows, ...here].toSorted(order) };
  });
}

const orders: Record<Sort, (a: Row, b: Row) => number> = {
  newest: (a, b) => b.created_at.localeCompare(a.created_at),
  oldest: (a, b) => a.created_at.localeCompare(b.created_at),
  most_voted: (a, b) => b.votes - a.votes || orders.newest(a, b),
  recently_updated: (a, b) => b.updated_at.localeCompare(a.updated_at),
};
