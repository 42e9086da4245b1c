import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";

// The layouts of a list, by its width. Beside an open request a list is narrow, and its rows keep
// their height, so that none moves when a request is opened. On a phone a title has two lines.
// Compact rows have one line less.
const layouts = {
  wide: { least: 620, height: 56, compact: 36 },
  narrow: { least: 416, height: 56, compact: 36 },
  phone: { least: 0, height: 84, compact: 56 },
};
type Layout = keyof typeof layouts;

const layoutOf = (width: number) => (Object.keys(layouts) as Layout[]).find((layout) => width >= layouts[layout].least)!;

export type VisibleRange = { first: number; last: number };

// useVisibleRange returns the rows of a list that are visible. All rows have the same height, so
// this is a division for any number of rows.
export function useVisibleRange(scroller: RefObject<HTMLDivElement | null>, compact: boolean) {
  const [layout, setLayout] = useState<Layout>("wide");
  const height = layouts[layout][compact ? "compact" : "height"];
  const [visible, setVisible] = useState<VisibleRange>({ first: 0, last: 30 });

  // look returns the rows that are visible at this moment, which may not be rendered yet.
  const look = useCallback((): VisibleRange => {
    const { scrollTop, clientHeight } = scroller.current!;
    return { first: Math.floor(scrollTop / height), last: Math.ceil((scrollTop + clientHeight) / height) - 1 };
  }, [scroller, height]);
  const update = useCallback(() => {
    const next = look();
    setVisible((now) => (now.first === next.first && now.last === next.last ? now : next));
  }, [look]);

  const measured = useRef(height);
  useLayoutEffect(() => {
    const box = scroller.current!;
    box.scrollTop *= height / measured.current; // the same rows stay visible
    measured.current = height;
    const measure = () => {
      setLayout(layoutOf(box.clientWidth));
      update();
    };
    measure(); // before the first paint, which the observer would miss
    const watcher = new ResizeObserver(() => flushSync(measure)); // no frame has the old layout
    watcher.observe(box);
    return () => watcher.disconnect();
  }, [scroller, height, update]);

  // scrollTo scrolls as little as needed to show a row.
  const scrollTo = useCallback((at: number) => {
    const box = scroller.current!;
    const top = at * height;
    box.scrollTop = Math.min(top, Math.max(box.scrollTop, top + height - box.clientHeight));
  }, [scroller, height]);

  return { layout, height, visible, look, update, scrollTo };
}
