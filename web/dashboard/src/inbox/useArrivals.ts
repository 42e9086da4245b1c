import { useEffect, useRef, useState } from "react";

import type { Sort, Where } from "../api/types";
import { busy } from "../requests/carry";
import { showChanged } from "../requests/lists";
import { readRows } from "../requests/rows";
import type { useRows } from "./useRows";

const often = 5_000;
const seldom = 60_000;

// useArrivals asks again and again what is new: how many requests have come, and what others
// have changed in those that are shown. away says that the service does not answer.
export function useArrivals(where: Where, sort: Sort, { query, rows, refresh }: ReturnType<typeof useRows>) {
  const [state, setState] = useState({ where, fresh: 0, away: false });
  const latest = useRef({ rows, query, refresh });
  useEffect(() => {
    latest.current = { rows, query, refresh };
  });
  const [since, setSince] = useState<string>();
  const ready = query.isSuccess;

  useEffect(() => {
    if (!ready) return;
    const stop = new AbortController();
    let wait = often;
    let timer = 0;
    let newest: string | undefined;
    let paused = false;

    const ask = async () => {
      paused = document.visibilityState === "hidden"; // until it is looked at
      if (paused) return;
      try {
        newest ??= await newestOf(where, sort, latest.current.rows[0]?.created_at, stop.signal);
        const fresh =
          where.box === "bin"
            ? 0
            : (await readRows({ ...where, ...(newest && { created_after: after(newest) }) }, "newest", "", 1, stop.signal)).total;
        await takeChanges(where, stop.signal);
        const list = latest.current;
        wait = often;
        if (fresh > 0 && list.rows.length === 0) {
          await list.refresh(); // nothing is there that could move
          setSince(new Date().toISOString());
        } else {
          setState({ where, fresh, away: false });
        }
        if (list.query.isFetchNextPageError) void list.query.fetchNextPage();
      } catch {
        if (stop.signal.aborted) return;
        wait = Math.min(wait * 2, seldom);
        setState((now) => ({ ...now, away: true }));
      }
      timer = window.setTimeout(ask, wait);
    };
    const resume = () => {
      if (paused) void ask();
    };
    timer = window.setTimeout(ask, sort === "newest" ? often : 0);
    document.addEventListener("visibilitychange", resume);
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", resume);
    };
  }, [where, sort, ready, since]);

  const show = async () => {
    await latest.current.refresh();
    setState({ where, fresh: 0, away: false });
    setSince(new Date().toISOString());
  };
  return { fresh: state.where === where ? state.fresh : 0, away: state.away, show };
}

// newestOf is when the newest request came that is known already.
async function newestOf(where: Where, sort: Sort, first: string | undefined, signal: AbortSignal): Promise<string | undefined> {
  if (first === undefined || sort === "newest") return first;
  return (await readRows(where, "newest", "", 1, signal)).rows[0]?.created_at;
}

const after = (at: string) => new Date(Date.parse(at) + 1).toISOString();

// takeChanges shows what others have changed, where it stands.
async function takeChanges(where: Where, signal: AbortSignal): Promise<void> {
  const { rows } = await readRows(where.box ? { box: where.box } : {}, "recently_updated", "", 50, signal);
  if (!busy()) showChanged(rows);
}
