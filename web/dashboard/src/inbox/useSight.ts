import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from "react";

// Below this width a row has two lines.
const narrow = 620;
const heights = { one: 44, two: 64 };

export type Sight = { first: number; last: number };

// useSight says which rows of a scrolled list are in sight. All rows are equally high, so
// that this is a division however many there are.
export function useSight(scroller: RefObject<HTMLDivElement | null>) {
  const [height, setHeight] = useState(heights.one);
  const [sight, setSight] = useState<Sight>({ first: 0, last: 30 });

  const look = useCallback(() => {
    const { scrollTop, clientHeight } = scroller.current!;
    const first = Math.floor(scrollTop / height);
    const last = Math.ceil((scrollTop + clientHeight) / height) - 1;
    setSight((now) => (now.first === first && now.last === last ? now : { first, last }));
  }, [scroller, height]);

  const measured = useRef(height);
  useLayoutEffect(() => {
    const box = scroller.current!;
    box.scrollTop *= height / measured.current; // the same rows stay in sight
    measured.current = height;
    look();
    const watcher = new ResizeObserver(() => {
      setHeight(box.clientWidth < narrow ? heights.two : heights.one);
      look();
    });
    watcher.observe(box);
    return () => watcher.disconnect();
  }, [scroller, height, look]);

  // show scrolls as little as it takes to bring a row into sight.
  const show = useCallback((at: number) => {
    const box = scroller.current!;
    const top = at * height;
    box.scrollTop = Math.min(top, Math.max(box.scrollTop, top + height - box.clientHeight));
  }, [scroller, height]);

  return { height, narrow: height === heights.two, sight, look, show };
}
