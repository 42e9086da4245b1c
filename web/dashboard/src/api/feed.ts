import { ApiError, call } from "./call";

// The feed tells what happens. One tab of the browser waits for events, and tells the others. Where a
// browser cannot do that, and while the service does not answer, listeners must ask by themselves.

type Listener = (kinds: string[]) => void;

const name = "gatherkit.feed";
const gap = 1_000; // after events, so that many of them cause few reads
const longestWait = 10; // seconds
const longestPause = 60_000;

const listeners = new Set<Listener>();
let channel: BroadcastChannel | undefined;
let heard = -Infinity;

// live reports whether this tab hears of what happens.
export const live = (): boolean => performance.now() - heard < 1_500 * longestWait;

// onChange calls a listener with the kinds of events that have come, or with none if some may have been
// missed. It returns a function that ends this.
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  if (!channel && "locks" in navigator) {
    channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }) => hear(data);
    void navigator.locks.request(name, follow);
  }
  return () => void listeners.delete(listener);
}

// hear is called for each answer: without kinds, nothing has happened.
function hear(kinds: string[] | undefined): void {
  heard = performance.now();
  if (kinds) for (const listener of listeners) listener(kinds);
}

// follow waits for events until the tab is closed.
async function follow(): Promise<never> {
  let after: number | undefined;
  for (let failures = 0; ; ) {
    const began = performance.now();
    let pause = gap;
    try {
      const from = after === undefined ? {} : { after, wait: longestWait };
      const { events, position } = await call("events-list", { ...from, limit: 1000 });
      after = position;
      const kinds = events.length || failures ? [...new Set(events.map((event) => event.kind))] : undefined;
      hear(kinds);
      channel!.postMessage(kinds);
      if (!kinds && (!("wait" in from) || performance.now() - began > 500 * longestWait)) pause = 0;
      failures = 0;
    } catch (error) {
      if (error instanceof ApiError && error.code === "events.position_ahead") after = undefined;
      pause = Math.min(gap * 2 ** failures++, longestPause);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
