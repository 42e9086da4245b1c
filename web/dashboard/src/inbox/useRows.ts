import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback } from "react";

import { queryClient } from "../api/queries";
import type { Sort, Where } from "../api/types";
import { restart } from "../requests/lists";
import { report } from "../requests/progress";
import { listQuery, type Row, type Rows } from "../requests/rows";
import { searchOf } from "./search";
import { totalQuery } from "./views";

const none: Pages = [];

// useRows returns the loaded rows of a filter, each once.
export function useRows(where: Where, sort: Sort) {
  const query = useInfiniteQuery({ ...listQuery(where, sort), placeholderData: keepPreviousData });
  const { data } = query;
  const pages = data?.pages ?? none;
  const { rows, ids, places } = flat(pages);
  const end = pages.at(-1);
  // The index follows a large change for some seconds. The list stays, and its total follows, too.
  const late = end?.exact === false && sort !== "relevance" && !query.isPlaceholderData;
  const recount = useQuery({ ...totalQuery(searchOf(where)), enabled: late, refetchInterval: ({ state }) => !state.data?.exact && 2_000 });
  const { total, exact } = (late && recount.data) || end || { total: 0, exact: true };

  const refresh = useCallback(async () => {
    await restart();
    void queryClient.invalidateQueries({ queryKey: ["requests", "facets"] });
  }, []);

  // readAll loads the rest of the list while it is wanted, and returns its last row unless the user stops.
  const readAll = async (wanted: () => boolean): Promise<Row | undefined> => {
    const stop = new AbortController();
    let all = pages;
    try {
      for (let more = query.hasNextPage; more; ) {
        const next = await query.fetchNextPage();
        if (next.isError || stop.signal.aborted || !wanted()) return undefined;
        all = next.data?.pages ?? all;
        more = next.hasNextPage;
        report({ text: "Loading requests", done: flat(all).rows.length, total, stop });
      }
    } finally {
      report(undefined);
    }
    return flat(all).rows.at(-1);
  };

  return { query, rows, ids, places, total, exact, meant: end?.meant, refresh, readAll };
}

type Pages = Rows["pages"];
type Flat = { pages: Pages; rows: Row[]; ids: string[]; places: Map<string, number> };

const made = new WeakMap<Pages, Flat>();
let latest: Flat | undefined;

// flat joins the pages. It skips repeated rows: in some orders, a row that changes between two
// pages comes again.
function flat(pages: Pages): Flat {
  const known = made.get(pages);
  if (known) return known;
  const { rows, ids, places } = before(pages) ?? { rows: [] as Row[], ids: [] as string[], places: new Map<string, number>() };
  const fresh: Row[] = [];
  for (const page of pages.slice(rows.length > 0 ? latest!.pages.length : 0)) {
    for (const row of page.rows) {
      if (places.has(row.id)) continue;
      places.set(row.id, rows.length + fresh.length);
      fresh.push(row);
    }
  }
  latest = { pages, rows: rows.concat(fresh), ids: ids.concat(fresh.map((row) => row.id)), places };
  made.set(pages, latest);
  return latest;
}

// before returns the last result if the pages only continue it. Its map is extended in place,
// because copying a hundred thousand ids for each page would make scrolling jerk.
function before(pages: Pages): Flat | undefined {
  const continues =
    latest && latest.rows.length > 0 && latest.places.size === latest.rows.length && latest.pages.every((page, i) => page === pages[i]);
  return continues ? latest : undefined;
}
