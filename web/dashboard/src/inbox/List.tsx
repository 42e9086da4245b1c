import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useId, useLayoutEffect, useRef, type MouseEvent, type RefObject } from "react";

import { appsQuery, usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import { type Row, rowsOfPage } from "../requests/rows";
import { useStatusName } from "../requests/statuses";
import { useSettings } from "../shell/settings";
import { Button } from "../ui/Button";
import { count, number } from "../ui/marks";
import { readPages, usePrinting, usePrintLoad } from "../ui/printing";
import { ListRow } from "./ListRow";
import type { Selection } from "./selection";
import type { useRows } from "./useRows";
import { useVisibleRange, type VisibleRange } from "./useVisibleRange";
import { useVisit } from "./visit";
import "./list.css";

interface Props {
  of: string; // the filter and the order: another list starts at the top
  found: ReturnType<typeof useRows>;
  at: number; // the row at the position of the keyboard
  open: string | undefined;
  selection: Selection;
  selectable: boolean;
  box: RefObject<HTMLDivElement | null>; // the list, to focus it
  visibleRows: RefObject<(() => VisibleRange) | null>;
  onOpen(row: Row): void;
  onSelect(row: Row, range: boolean): void;
}

const ahead = 120; // the next page is loaded this many rows before the end
const printed = 1_000; // rows that are printed
const around = 12; // rows that are rendered above and below the visible ones

// List is virtual: it renders only the visible rows. It does not use the list of React Aria,
// which builds every row first.
export function List({ of, found, at, open, selection, selectable, box, visibleRows, onOpen, onSelect }: Props) {
  const { query, rows, total, exact } = found;
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const { compact } = useSettings();
  const { layout, height, visible, look, update, scrollTo } = useVisibleRange(scroller, compact);
  const { data: apps } = useQuery(appsQuery);
  const { data: users } = useQuery(usersQuery);
  const since = useVisit(useSession().user.id);
  const appsByID = new Map(apps && apps.length > 1 ? apps.map((app) => [app.id, app]) : []);
  const userNames = new Map(users?.map((user) => [user.id, user.name]));

  const listed = useRef(of);
  useLayoutEffect(() => {
    if (listed.current === of) return;
    listed.current = of;
    scrollTo(0);
    update();
  }, [of, scrollTo, update]);
  const shown = useRef(at);
  useLayoutEffect(() => { // before the next key
    if (shown.current !== at && at >= 0) scrollTo(at);
    shown.current = at;
  }, [at, scrollTo]);
  useEffect(() => {
    visibleRows.current = look;
    return () => {
      visibleRows.current = null;
    };
  }, [visibleRows, look]);

  const { isFetching, isFetchNextPageError, isPlaceholderData, fetchNextPage } = query;
  const hasNextPage = query.hasNextPage && !isPlaceholderData;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError && visible.last > rows.length - ahead) void fetchNextPage();
  }, [visible.last, rows.length, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);

  const nameOf = useStatusName();
  const press = useCallback((row: Row, event: MouseEvent) => {
    if (selectable && (event.shiftKey || event.metaKey || event.ctrlKey)) onSelect(row, event.shiftKey);
    else onOpen(row);
  }, [selectable, onSelect, onOpen]);

  usePrintLoad(async () => {
    if (!open) await readPages(query, Math.ceil((printed - rows.length) / rowsOfPage));
  });
  const printing = usePrinting();
  const most = Math.min(rows.length, printed);
  const range = printing ? { first: 0, last: most - 1 } : visible;
  const atEnd = !hasNextPage && visible.last >= rows.length - 1;
  return (
    <div
      ref={scroller}
      onScroll={update}
      className={[
        "list",
        `list-${layout}`,
        compact && "list-compact",
        isPlaceholderData && "list-stale",
        selection.ids.size > 0 && "list-selecting",
      ].filter(Boolean).join(" ")}
    >
      <div
        ref={box}
        className="items"
        role="listbox"
        tabIndex={0}
        aria-label="Requests"
        aria-multiselectable={selectable}
        aria-activedescendant={at >= 0 ? `${id}${rows[at]!.id}` : undefined}
        style={{ height: rows.length * height }}
      >
        {rendered(range, rows.length, at).map((index) => {
          const row = rows[index]!;
          return (
            <ListRow
              key={row.id}
              id={id + row.id}
              row={row}
              at={index}
              of={exact ? total : -1}
              top={index * height}
              tags={layout === "wide" ? 3 : 1}
              app={appsByID.get(row.app_id)}
              status={nameOf(row.status, row.app_id)}
              assignee={row.assignee_id ? userNames.get(row.assignee_id) : undefined}
              fresh={row.created_at > since}
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
      {printing && total > most && <p className="quiet small">The first {number(most)} of {count(total, "request")}.</p>}
      <div className="list-end" role="status">
        {isFetchNextPageError ? (
          <span>
            Could not load more requests.{" "}
            <Button small onPress={() => void fetchNextPage()}>
              Try again
            </Button>
          </span>
        ) : hasNextPage ? (
          <span aria-hidden="true">Loading more…</span>
        ) : atEnd && rows.length > 20 ? (
          `End of list${exact ? `: ${count(total, "request")}` : ""}`
        ) : null}
      </div>
    </div>
  );
}

// rendered returns the rows to render: the visible ones, some around them, and the row to which
// aria-activedescendant refers.
function rendered({ first, last }: VisibleRange, total: number, at: number): number[] {
  const from = Math.max(0, first - around);
  const to = Math.min(total - 1, last + around);
  const all = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
  if (at >= 0 && at < from) all.unshift(at);
  if (at > to) all.push(at);
  return all;
}
