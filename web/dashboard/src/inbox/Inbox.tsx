import { hashKey } from "@tanstack/react-query";
import { useMatch, useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";

import { queryClient, tagsQuery } from "../api/queries";
import { useSession } from "../api/session";
import type { FeatureRequest } from "../api/types";
import { useChanges } from "../requests/changes";
import { PersonCard } from "../requests/PersonCard";
import { PickerProvider } from "../requests/PickerProvider";
import { requestQuery, type Row } from "../requests/rows";
import type { Target } from "../requests/target";
import { UncopiedLink } from "../requests/UncopiedLink";
import { changeSettings, useSettings } from "../shell/settings";
import { usePageTitle } from "../shell/title";
import { Button } from "../ui/Button";
import { Checkbox } from "../ui/Checkbox";
import { Dialog } from "../ui/Dialog";
import { HoldKeys } from "../ui/HoldKeys";
import { count } from "../ui/marks";
import { Failure, Skeleton } from "../ui/states";
import { useMedia } from "../ui/useMedia";
import { BulkBar } from "./BulkBar";
import { Chips } from "./Chips";
import { Elsewhere } from "./Elsewhere";
import { Empty } from "./Empty";
import { Facets } from "./Facets";
import { HeldComments } from "./HeldComments";
import { List } from "./List";
import { ProgressLine } from "./ProgressLine";
import { boxNames, changed, cleared, filtersDiffer, isNarrowed, sortOf, whereOf, type Change, type Search } from "./search";
import { opening, placeIn, resetting, usePlaces } from "./views";
import { ViewMenu } from "./ViewMenu";
import { Toolbar } from "./Toolbar";
import { useArrivals } from "./useArrivals";
import { useInboxCommands } from "./useInboxCommands";
import { useListState } from "./useListState";
import { useRows } from "./useRows";
import type { VisibleRange } from "./useVisibleRange";
import "./inbox.css";

// Fetched as soon as the list is there, so that they open without delay.
const panel = () => import("../requests/RequestPanel");
const form = () => import("./NewRequest");
const RequestPanel = lazy(() => panel().then((module) => ({ default: module.RequestPanel })));
const NewRequest = lazy(form);

export default function InboxPage() {
  const { request, ...filter } = useSearch({ from: "/inside/" });
  const navigate = useNavigate();
  const router = useRouter();
  const here = useMatch({ from: "/inside/", select: ({ pathname }) => pathname });
  const { first } = usePlaces();
  // The address without a filter is that of the view that the user sees first.
  const bare = Object.keys(filter).length === 0;
  useEffect(() => {
    // After a login, the way back to another page may have begun.
    if (router.latestLocation.pathname !== here) return;
    if (bare && first) void navigate({ to: "/", search: { ...opening(first), ...(request && { request }) }, hash: true, replace: true });
  }, [bare, first?.id]);
  return bare ? null : <PickerProvider><Inbox /></PickerProvider>;
}

function Inbox() {
  const search = useSearch({ from: "/inside/" });
  const navigate = useNavigate();
  const box = search.box ?? "live";
  const { request: open, sort: _, view: __, ...filter } = search;
  const sort = sortOf(search);
  const { places } = usePlaces();
  const place = placeIn(search, places);
  usePageTitle(search.box ? boxNames[search.box] : place.name);
  const ranked = sort === "relevance";
  const key = hashKey([filter, sort]); // whatever the order of what the address has
  const where = useMemo(() => whereOf(filter), [key]);
  const change = useCallback(
    (to: Change, replace = false) => void navigate({ to: "/", search: (old) => changed(old as Search, to), replace }),
    [navigate],
  );

  const found = useRows(where, sort);
  const { rows, total, exact, query } = found;
  // What the list shows: the previous search until the rows of the next one have arrived.
  const [shown, setShown] = useState({ key, search });
  if (shown.key !== key && !query.isPlaceholderData) setShown({ key, search });
  const searchAll = () => {
    change({ ...cleared, view: "all", q: shown.search.q });
    focusMain();
  };
  useEffect(() => {
    if (!query.isFetched) return;
    void panel();
    void form();
    void queryClient.prefetchQuery(tagsQuery);
  }, [query.isFetched]);
  const arrivals = useArrivals(where, sort, found);
  const shownKey = useRef(key);
  useEffect(() => {
    shownKey.current = key;
  }, [key]);
  const state = useListState(query.isPlaceholderData ? `${key}, loading` : key, found, open);
  const member = useSession().can("member");
  const changes = useChanges();
  const { facets, compact } = useSettings();
  const [sheet, setSheet] = useState(false);
  const [creating, setCreating] = useState(false);
  const [uncopied, setUncopied] = useState("");
  const narrow = useMedia(open ? "(max-width: 84rem)" : "(max-width: 56.25rem)"); // no room for filters beside the list, as in inbox.css
  const toggleFilters = () => (narrow ? setSheet(true) : changeSettings({ facets: !facets }));
  const list = useRef<HTMLDivElement>(null);
  const visibleRows = useRef<() => VisibleRange>(null);
  const field = useRef<HTMLInputElement>(null);
  const focusList = () => list.current?.focus({ preventScroll: true });
  const focusMain = () => document.getElementById("main")?.focus(); // from a button that disappears

  const { selection, selected, setActive } = state;
  const target = targetOf();
  function targetOf(): Target | undefined {
    if (selection.all) return { matching: where, count: total, ...(!exact && { atLeast: true }) };
    if (selected > 0) return { requests: state.selectedRows };
    const opened = open && (rows[found.places.get(open) ?? -1] ?? queryClient.getQueryData(requestQuery(open).queryKey));
    const request = opened || state.row;
    return request && { requests: [request] };
  }

  const steps = useRef(0); // counts what the user does with rows
  const show = useCallback((row: Row) => {
    steps.current++;
    setActive(row.id);
    change({ request: row.id });
  }, [change, setActive]);
  // While a request is open, moving opens the next one. If the open request has left the list,
  // the next one already is at the position of the keyboard.
  const move = (by: number) => {
    const left = open !== undefined && state.row?.id !== open && !found.places.has(open);
    const visible = visibleRows.current?.();
    const first = steps.current === 0 && !open && document.activeElement !== list.current; // no row is marked yet
    const scrolledAway = Math.abs(by) === 1 && visible && (state.at < visible.first || state.at > visible.last);
    const from = state.at + (left ? Math.max(0, by - 1) : by);
    const to = scrolledAway ? visible.first + 1 : first ? state.at : from;
    const next = rows[Math.max(0, Math.min(rows.length - 1, to))];
    steps.current++;
    if (!next) return;
    setActive(next.id);
    focusList();
    if (open) change({ request: next.id }, true);
  };
  // toEnd loads the rest of the list, and goes to its last row unless the user goes elsewhere.
  const toEnd = async () => {
    const step = ++steps.current;
    const wanted = () => shownKey.current === key && steps.current === step;
    const end = await found.readAll(wanted);
    if (end && wanted()) setActive(end.id);
  };
  const close = () => {
    change({ request: undefined });
    requestAnimationFrame(focusList);
  };

  useInboxCommands({
    search,
    target,
    onList: () =>
      document.activeElement === list.current || document.activeElement === document.body || document.activeElement?.id === "main",
    canClose: selected > 0 || open !== undefined,
    move,
    toEnd: () => void toEnd(),
    undo: () => {
      const id = changes.undo();
      if (id) queueMicrotask(() => setActive(id)); // when its row is back, and before the next key
    },
    range: (by) => {
      const next = rows[state.at + by];
      if (state.row && !selection.ids.has(state.row.id)) state.select(state.row, false);
      if (next) state.select(next, true);
    },
    open: () => state.row && show(state.row),
    select: (range) => state.row && state.select(state.row, range),
    selectAll: () => state.selectAll(true),
    close: () => (selected > 0 ? state.clear() : close()),
    find: () => field.current?.focus(),
    toggleFilters,
    create: () => setCreating(true),
    uncopied: setUncopied,
    change,
    place,
    places,
  });

  const created = async (request: FeatureRequest) => {
    setCreating(false);
    await arrivals.show();
    change({ request: request.id });
  };
  // All best matches are in the list, even if others were not compared.
  const amount = ranked && !exact ? count(total, "best match", "best matches") : `${exact ? "" : "at least "}${count(total, "request")}`;
  const facetList = <Facets search={search} where={where} ranked={ranked} onChange={change} />;
  return (
    <div className={open ? "inbox inbox-open" : "inbox"}>
      {facets && <aside className="inbox-facets" aria-label="Filters">{facetList}</aside>}
      <div className="inbox-list">
        <Toolbar
          search={search}
          where={where}
          total={total}
          field={field}
          filters={facets && !narrow}
          onFilters={toggleFilters}
          onChange={change}
          onNew={() => setCreating(true)}
          onLeave={focusList}
        />
        {search.person && <PersonCard person={search.person} />}
        {box === "quarantine" && <HeldComments app={search.app} />}
        <div className="list-head">
          {member && (
            <Checkbox
              label="Select all loaded requests"
              isSelected={rows.length > 0 && selected >= rows.length}
              isIndeterminate={selected > 0 && selected < rows.length}
              isDisabled={rows.length === 0}
              onChange={(all) => (all ? state.selectAll(false) : state.clear())}
            />
          )}
          <ViewMenu search={search} />
          <span className="quiet small number" role="status">{query.data && amount}</span>
          {filtersDiffer(search, place.search) && (
            <span className="list-filtered quiet small">{search.q ? "Search results" : "Filtered"}</span>
          )}
          <Chips search={search} place={place} onChange={change} />
          <span className="list-news" role="status">
            {search.q && rows.length > 0 && !query.isPlaceholderData && !search.box && isNarrowed(search) && (
              <Elsewhere words={search.q} sort={sort} total={total} exact={exact} onShow={searchAll} />
            )}
            {arrivals.offline && <span className="quiet small">Cannot reach Gatherkit. Retrying…</span>}
            {arrivals.fresh > 0 && (
              <Button small onPress={() => void arrivals.show().then(focusMain)}>{count(arrivals.fresh, "new request")}</Button>
            )}
          </span>
        </div>
        {query.isPending ? (
          <div className={compact ? "list-loading list-compact" : "list-loading"} role="status" aria-label="Loading requests">
            {Array.from({ length: 14 }, (_, i) => (
              <span key={i} />
            ))}
          </div>
        ) : query.isError && !query.data ? (
          <Failure error={query.error} onRetry={() => void query.refetch()} />
        ) : rows.length === 0 ? (
          <Empty
            search={shown.search}
            meant={found.meant}
            onSearch={(q) => {
              change({ q });
              focusMain();
            }}
            place={place}
            onEverything={searchAll}
            onClear={() => {
              change(resetting(place));
              focusMain();
            }}
            onNew={() => setCreating(true)}
          />
        ) : (
          <List
            of={shown.key}
            found={found}
            at={state.at}
            open={open}
            selection={selection}
            selectable={member}
            box={list}
            visibleRows={visibleRows}
            onOpen={show}
            onSelect={state.select}
          />
        )}
        <div className="floats">
          <ProgressLine />
          {selected > 0 && target && (
            <BulkBar
              target={target}
              selected={selected}
              box={box}
              total={total}
              exact={exact}
              all={selection.all}
              onAll={ranked ? undefined : () => state.selectAll(true)}
              onClear={state.clear}
              onLeave={() => requestAnimationFrame(() => (list.current ? focusList() : focusMain()))}
            />
          )}
        </div>
      </div>
      {open && (
        <aside className="inbox-panel" aria-label="Request details">
          <Suspense
            fallback={
              <div className="inbox-waiting">
                <Skeleton lines={8} label="Loading request" />
              </div>
            }
          >
            <RequestPanel id={open} onClose={close} onUncopied={setUncopied} />
          </Suspense>
        </aside>
      )}
      <Dialog title="Filters" isOpen={sheet} onClose={() => setSheet(false)}>
        {facetList}
        <div className="dialog-actions"><Button kind="primary" onPress={() => setSheet(false)}>Show {amount}</Button></div>
      </Dialog>
      <UncopiedLink url={uncopied} onClose={() => setUncopied("")} />
      <Suspense fallback={<HoldKeys />}>
        {creating && <NewRequest app={search.app} onClose={() => setCreating(false)} onCreated={created} />}
      </Suspense>
    </div>
  );
}
