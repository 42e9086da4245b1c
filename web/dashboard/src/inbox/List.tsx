import { useQuery } from "@tanstack/react-query";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useId, useLayoutEffect, useRef, useState, type MouseEvent, type RefObject } from "react";

import { appsQuery, usersQuery } from "../api/queries";
import type { Row } from "../requests/rows";
import { Button } from "../ui/Button";
import { count } from "../ui/marks";
import { ListRow } from "./ListRow";
import type { Selection } from "./selection";
import type { useRows } from "./useRows";
import "./list.css";

interface Props {
  found: ReturnType<typeof useRows>;
  at: number; // the row where the keyboard is
  open: string | undefined;
  selection: Selection;
  selectable: boolean;
  box: RefObject<HTMLDivElement | null>; // the list, to give it the focus
  onOpen(row: Row): void;
  onSelect(row: Row, range: boolean): void;
}

// So many rows before its end, the list is read on.
const ahead = 120;
// Below this width a row has two lines.
const narrow = 620;

// The virtual list: of however many rows only those in sight are in the page. It is not made
// of react-aria's parts, which build every row first.
export function List({ found, at, open, selection, selectable, box, onOpen, onSelect }: Props) {
  const { query, rows, total, exact } = found;
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const height = useRowHeight(scroller);
  const { data: apps } = useQuery(appsQuery);
  const { data: users } = useQuery(usersQuery);
  const appNames = new Map(apps && apps.length > 1 ? apps.map((app) => [app.id, app.name]) : []);
  const userNames = new Map(users?.map((user) => [user.id, user.name]));

  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
    getItemKey: (i) => rows[i]!.id,
    // The row that the list points to by its id has to be there.
    rangeExtractor: (range) => (at < 0 || (at >= range.startIndex && at <= range.endIndex) ? defaultRangeExtractor(range) : [...new Set([...defaultRangeExtractor(range), at])].sort((a, b) => a - b)),
  });
  const measured = useRef(height);
  useLayoutEffect(() => {
    if (measured.current === height) return;
    list.measure();
    scroller.current!.scrollTop *= height / measured.current; // the same rows stay in sight
    measured.current = height;
  }, [height]);

  const shown = useRef(at);
  useEffect(() => {
    if (shown.current !== at && at >= 0) list.scrollToIndex(at);
    shown.current = at;
  }, [at]);

  const items = list.getVirtualItems();
  const { isFetching, isFetchNextPageError, isPlaceholderData, fetchNextPage } = query;
  const hasNextPage = query.hasNextPage && !isPlaceholderData;
  const end = list.range?.endIndex ?? 0;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError && end > rows.length - ahead) void fetchNextPage();
  }, [end, rows.length, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);

  const press = useCallback((row: Row, event: MouseEvent) => {
    if (selectable && (event.shiftKey || event.metaKey || event.ctrlKey)) onSelect(row, event.shiftKey);
    else onOpen(row);
  }, [selectable, onSelect, onOpen]);

  const atEnd = !hasNextPage && end >= rows.length - 1;
  return (
    <div ref={scroller} className={["list", height > 44 && "list-narrow", isPlaceholderData && "list-stale", selection.ids.size > 0 && "list-selecting"].filter(Boolean).join(" ")}>
      <div
        ref={box}
        className="items"
        role="listbox"
        tabIndex={0}
        aria-label="Requests"
        aria-multiselectable={selectable}
        aria-activedescendant={at >= 0 ? `${id}${rows[at]!.id}` : undefined}
        style={{ height: list.getTotalSize() }}
      >
        {items.map(({ index, start, key }) => {
          const row = rows[index]!;
          return (
            <ListRow
              key={key}
              id={id + row.id}
              row={row}
              at={index}
              of={exact ? total : -1}
              top={start}
              app={appNames.get(row.app_id)}
              assignee={row.assignee_id ? userNames.get(row.assignee_id) : undefined}
              active={index === at}
              open={row.id === open}
              selected={selection.all || selection.ids.has(row.id)}
              selectable={selectable}
              onPress={press}
              onSelect={onSelect}
            />
          );
        })}
      </div>
      <div className="list-end" role="status">
        {isFetchNextPageError ? <span>More could not be loaded. <Button small onPress={() => void fetchNextPage()}>Try again</Button></span> : hasNextPage ? <span aria-hidden="true">Loading more…</span> : atEnd && rows.length > 20 ? `That is all: ${count(total, "request")}.` : null}
      </div>
    </div>
  );
}

function useRowHeight(of: RefObject<HTMLDivElement | null>): number {
  const [height, setHeight] = useState(44);
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setHeight(entry!.contentRect.width < narrow ? 64 : 44));
    watcher.observe(of.current!);
    return () => watcher.disconnect();
  }, [of]);
  return height;
}
