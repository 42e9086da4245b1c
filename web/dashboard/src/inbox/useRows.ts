import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";

import { queryClient } from "../api/queries";
import type { Sort, Where } from "../api/types";
import { listQuery, readRows, type Row, type Rows } from "../requests/rows";

const none: Row[] = [];

// useRows returns the rows of a filter as far as they are loaded, each once.
export function useRows(where: Where, sort: Sort) {
  const query = useInfiniteQuery({ ...listQuery(where, sort), placeholderData: keepPreviousData });
  const { data } = query;
  const { rows, ids, places } = useMemo(() => flat(data), [data]);
  const last = data?.pages.at(-1);

  // refresh begins again with the first page, without taking away what is shown meanwhile.
  const refresh = useCallback(async () => {
    const page = await readRows(where, sort, "", 100);
    const { queryKey } = listQuery(where, sort);
    await queryClient.cancelQueries({ queryKey });
    queryClient.setQueryData(queryKey, { pages: [page], pageParams: [""] });
    void queryClient.invalidateQueries({ queryKey: ["requests", "facets"] });
  }, [where, sort]);

  return { query, rows, ids, places, total: last?.total ?? 0, exact: last?.exact ?? true, refresh };
}

// flat leaves out what a later page repeats, as what is changed meanwhile can come again in
// some orders.
function flat(data: Rows | undefined): { rows: Row[]; ids: string[]; places: Map<string, number> } {
  if (!data) return { rows: none, ids: [], places: new Map() };
  const places = new Map<string, number>();
  const rows: Row[] = [];
  for (const page of data.pages) {
    for (const row of page.rows) {
      if (places.has(row.id)) continue;
      places.set(row.id, rows.length);
      rows.push(row);
    }
  }
  return { rows, ids: rows.map((row) => row.id), places };
}
