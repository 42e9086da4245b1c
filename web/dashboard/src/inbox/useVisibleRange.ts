import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from "react";

// Below this width a row has two lines.
const narrow = 620;
const heights = { one: 44, two: 64 };

export type VisibleRange = { first: number; last: number };

// useVisibleRange returns the rows of a list that are visible. All rows have the same height, so
// this is a division for any number of rows.
export function useVisibleRange(scroller: RefObject<HTMLDivElement | null>) {
  const [height, setHeight] = useState(heights.one);
  const [visible, setVisible] = useState<VisibleRange>({ first: 0, last: 30 });

  const update = useCallback(() => {
    const { scrollTop, clientHeight } = scroller.current!;
    const first = Math.floor(scrollTop / height);
    const last = Math.ceil((scrollTop + clientHeight) / height) - 1;
    setVisible((now) => (now.first === first && now.last === last ? now : { first, last }));
  }, [scroller, height]);

  const measured = useRef(height);
  useLayoutEffect(() => {
    const box = scroller.current!;
    box.scrollTop *= height / measured.current; // the same rows stay visible
    measured.current = height;
    const measure = () => {
      setHeight(box.clientWidth < narrow ? heights.two : heights.one);
      update();
    };
    measure(); // before the first paint, which the observer would miss
    const watcher = new ResizeObserver(measure);
    watcher.observe(box);
    return () => watcher.disconnect();
  }, [scroller, height, update]);

  // scrollTo scrolls as little as needed to show a row.
  const scrollTo = useCallback((at: number) => {
    const box = scroller.current!;
    const top = at * height;
    box.scrollTop = Math.min(top, Math.max(box.scrollTop, top + height - box.clientHeight));
  }, [scroller, height]);

  return { height, narrow: height === heights.two, visible, update, scrollTo };
}
