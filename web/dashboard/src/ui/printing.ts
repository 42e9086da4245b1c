import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

type Load = () => Promise<unknown>;

const loads = new Set<{ current: Load }>();

// usePrintLoad loads the rest of what a component shows before the page is printed with the dashboard's command.
export function usePrintLoad(load: Load): void {
  const held = useRef(load);
  useEffect(() => {
    held.current = load;
  });
  useEffect(() => {
    loads.add(held);
    return () => void loads.delete(held);
  }, []);
}

// printPage loads the rest of the page, as far as that succeeds, and prints it.
export async function printPage(): Promise<void> {
  await Promise.allSettled([...loads].map(({ current }) => current()));
  window.print();
}

// usePrinting returns whether the page is being printed, also from the browser's menu.
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const set = (event: Event) => flushSync(() => setPrinting(event.type === "beforeprint"));
    window.addEventListener("beforeprint", set);
    window.addEventListener("afterprint", set);
    return () => {
      window.removeEventListener("beforeprint", set);
      window.removeEventListener("afterprint", set);
    };
  }, []);
  return printing;
}

export interface Pages {
  hasNextPage: boolean;
  fetchNextPage(): Promise<{ hasNextPage: boolean; isError: boolean }>;
}

// readPages reads further pages, at most a number of them.
export async function readPages(query: Pages, most: number): Promise<void> {
  for (let more = query.hasNextPage; more && most > 0; most--) {
    const next = await query.fetchNextPage();
    more = next.hasNextPage && !next.isError;
  }
}
