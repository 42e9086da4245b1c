import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useId, useRef, type MouseEvent, type RefObject } from "react";

import { appsQuery, usersQuery } from "../api/queries";
import type { Row } from "../requests/rows";
import { Button } from "../ui/Button";
import { count } from "../ui/marks";
import { ListRow } from "./ListRow";
import type { Selection } from "./selection";
import type { useRows } from "./useRows";
import { useSight, type Sight } from "./useSight";
import "./list.css";

interface Props {
  found: ReturnType<typeof useRows>;
  at: number; // the row where the keyboard is
  open: string | undefined;
  selection: Selection;
  selectable: boolean;
  box: RefObject<HTMLDivElement | null>; // the list, to give it the focus
  seen: RefObject<Sight | null>; // the rows in sight
  onOpen(row: Row): void;
  onSelect(row: Row, range: boolean): void;
}

// So many rows before its end, the list is read on.
const ahead = 120;
const around = 12;

// The virtual list: of however many rows only those in sight are in the page. It is not made
// of react-aria's parts, which build every row first.
export function List({ found, at, open, selection, selectable, box, seen, onOpen, onSelect }: Props) {
  const { query, rows, total, exact } = found;
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const { height, narrow, sight, look, show } = useSight(scroller);
  const { data: apps } = useQuery(appsQuery);
  const { data: users } = useQuery(usersQuery);
  const appNames = new Map(apps && apps.length > 1 ? apps.map((app) => [app.id, app.name]) : []);
  const userNames = new Map(users?.map((user) => [user.id, user.name]));

  const shown = useRef(at);
  useEffect(() => {
    if (shown.current !== at && at >= 0) show(at);
    shown.current = at;
  }, [at, show]);
  useEffect(() => {
    seen.current = sight;
  }, [seen, sight]);

  const { isFetching, isFetchNextPageError, isPlaceholderData, fetchNextPage } = query;
  const hasNextPage = query.hasNextPage && !isPlaceholderData;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError && sight.last > rows.length - ahead) void fetchNextPage();
  }, [sight.last, rows.length, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);

  const press = useCallback((row: Row, event: MouseEvent) => {
    if (selectable && (event.shiftKey || event.metaKey || event.ctrlKey)) onSelect(row, event.shiftKey);
    else onOpen(row);
  }, [selectable, onSelect, onOpen]);

  const atEnd = !hasNextPage && sight.last >= rows.length - 1;
  return (
    <div
      ref={scroller}
      onScroll={look}
      className={["list", narrow && "list-narrow", isPlaceholderData && "list-stale", selection.ids.size > 0 && "list-selecting"]
        .filter(Boolean)
        .join(" ")}
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
        {inPage(sight, rows.length, at).map((index) => {
          const row = rows[index]!;
          return (
            <ListRow
              key={row.id}
              id={id + row.id}
              row={row}
              at={index}
              of={exact ? total : -1}
              top={index * height}
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
        {isFetchNextPageError ? (
          <span>
            More could not be loaded.{" "}
            <Button small onPress={() => void fetchNextPage()}>
              Try again
            </Button>
          </span>
        ) : hasNextPage ? (
          <span aria-hidden="true">Loading more…</span>
        ) : atEnd && rows.length > 20 ? (
          `That is all: ${count(total, "request")}.`
        ) : null}
      </div>
    </div>
  );
}

// inPage are the rows to have in the page: those in sight and some around them, and the one
// to which the list points by its id.
function inPage({ first, last }: Sight, total: number, at: number): number[] {
  const from = Math.max(0, first - around);
  const to = Math.min(total - 1, last + around);
  const all = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
  if (at >= 0 && at < from) all.unshift(at);
  if (at > to) all.push(at);
  return all;
}
