import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Row } from "../requests/rows";
import { everything, extended, nothing, toggled, type Selection } from "./selection";
import type { useRows } from "./useRows";

// useListState keeps the position of the keyboard in the list, and the selection. When the row
// at that position leaves the list, the next row takes its place.
export function useListState(of: string, { rows, ids, places, total }: ReturnType<typeof useRows>, open: string | undefined) {
  const [active, setActive] = useState<string | undefined>(open);
  const [picked, setPicked] = useState<Selection>(nothing);
  const [list, setList] = useState(of);
  if (list !== of) {
    setList(of); // another filter or order is another list
    setActive(undefined);
    setPicked(nothing);
  }

  const last = useRef(0);
  const place = active === undefined ? undefined : places.get(active);
  const at = place ?? Math.min(list === of && active !== undefined ? last.current : 0, rows.length - 1);
  useLayoutEffect(() => {
    last.current = Math.max(at, 0);
    if (place === undefined && rows[at]) setActive(rows[at].id);
  }, [at, place, rows]);

  // Rows that have left the list are no longer selected.
  const selection = useMemo<Selection>(
    () => ({ ...picked, ids: new Set([...picked.ids].filter((id) => places.has(id))) }),
    [picked, places],
  );
  const selectedRows = useMemo(() => [...selection.ids].map((id) => rows[places.get(id)!]!), [selection, rows, places]);

  const select = useCallback((row: Row, range: boolean) => {
    setActive(row.id);
    setPicked((now) => (range ? extended : toggled)(now, row.id, ids));
  }, [ids]);

  return {
    at,
    row: rows[at] as Row | undefined,
    setActive,
    selection,
    selectedRows,
    selected: selection.all ? Math.max(total, rows.length) : selection.ids.size,
    select,
    selectAll: (all: boolean) => setPicked(everything(ids, all)),
    clear: () => setPicked(nothing),
  };
}
