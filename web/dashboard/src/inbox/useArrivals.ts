import { useEffect, useRef, useState } from "react";

import { live, onChange } from "../api/feed";
import type { Sort, Where } from "../api/types";
import { showChanged } from "../requests/lists";
import { readRows } from "../requests/rows";
import type { useRows } from "./useRows";

const interval = 5_000;
const longestInterval = 60_000;

// useArrivals looks for new requests, and for changes that others make to the shown ones, whenever the
// feed tells of something. While there is no feed, it polls. fresh is the number of new requests;
// offline means that the service does not answer.
export function useArrivals(where: Where, sort: Sort, { query, rows, refresh }: ReturnType<typeof useRows>) {
  const [state, setState] = useState({ where, fresh: 0, offline: false });
  const latest = useRef({ rows, query, refresh });
  useEffect(() => {
    latest.current = { rows, query, refresh };
  });
  const [since, setSince] = useState<string>();
  const ready = query.isSuccess && !query.isPlaceholderData;

  useEffect(() => {
    if (!ready) return;
    const stop = new AbortController();
    let wait = interval;
    let timer = 0;
    let newest: string | undefined; // when the newest known request was created; undefined if none is known
    let paused = false;
    let polling = false;
    let again = false; // whether something happened during a poll

    const poll = async () => {
      clearTimeout(timer);
      paused = document.visibilityState === "hidden";
      again = polling;
      if (paused || polling) return;
      polling = true;
      try {
        newest ??= await newestOf(where, sort, latest.current.rows[0]?.created_at, stop.signal);
        const fresh =
          where.box === "bin"
            ? 0
            : (await readRows({ ...where, ...(newest && { created_after: after(newest) }) }, "newest", "", 1, stop.signal)).total;
        await showChanges(where, stop.signal);
        const list = latest.current;
        wait = interval;
        if (fresh > 0 && list.rows.length === 0) {
          await list.refresh(); // no row can move
          setSince(new Date().toISOString());
        } else {
          setState({ where, fresh: newest === undefined ? 0 : fresh, offline: false });
        }
        if (list.query.isFetchNextPageError) void list.query.fetchNextPage();
      } catch {
        if (stop.signal.aborted) return;
        wait = Math.min(wait * 2, longestInterval);
        setState((now) => ({ ...now, offline: true }));
      }
      polling = false;
      timer = window.setTimeout(poll, again ? 0 : live() ? longestInterval : wait);
    };
    const resume = () => {
      if (paused) void poll();
    };
    timer = window.setTimeout(poll, sort === "newest" ? interval : 0);
    document.addEventListener("visibilitychange", resume);
    const leave = onChange(() => void poll());
    return () => {
      stop.abort();
      leave();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", resume);
    };
  }, [where, sort, ready, since]);

  const show = async () => {
    await latest.current.refresh();
    setState({ where, fresh: 0, offline: false });
    setSince(new Date().toISOString());
  };
  return { fresh: state.where === where ? state.fresh : 0, offline: state.offline, show };
}

// newestOf returns the time of the newest known request.
async function newestOf(where: Where, sort: Sort, first: string | undefined, signal: AbortSignal): Promise<string | undefined> {
  if (first === undefined || sort === "newest") return first;
  return (await readRows(where, "newest", "", 1, signal)).rows[0]?.created_at;
}

const after = (at: string) => new Date(Date.parse(at) + 1).toISOString();

// showChanges shows what others have changed, without moving rows.
async function showChanges(where: Where, signal: AbortSignal): Promise<void> {
  const { rows } = await readRows(where.box ? { box: where.box } : {}, "recently_updated", "", 50, signal);
  showChanged(rows);
}
