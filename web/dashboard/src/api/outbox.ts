import { useSyncExternalStore } from "react";

import type { ApiError } from "./send";
import type { FeatureRequest } from "./types";

// The outbox sends changes one after another, so that each knows what the previous one did. While
// the service does not answer, or nobody is logged in, changes wait here, and the page shows
// their result. They are only in the memory of the tab: the browser asks before it closes it.

export interface Change {
  hidden: boolean; // whether it is a check that the user does not know of
  send(): Promise<void>;
  // applied returns a request as it is after the change, or undefined if the change moves it out
  // of the box.
  applied<R extends Triaged>(request: R, box?: string): R | undefined;
  // continueFrom starts the change from another row, and returns the row after the change.
  continueFrom<R extends Versioned>(row: R): R;
}

// Triaged are the fields of a request that a change can set.
export type Triaged = Pick<FeatureRequest, "id" | "status" | "assignee_id" | "hidden" | "eta" | "tags" | "merged_into_id">;

type Versioned = Triaged & Pick<FeatureRequest, "version">;

type State = { waiting: number; stopped: boolean };

const shortest = 1_000;
const longest = 30_000;

const queue: Change[] = [];
const over = new Map<Change, () => void>(); // ends the wait of put
let sending = false;
let failures = 0;
let state: State = { waiting: 0, stopped: false };
const listeners = new Set<() => void>();

const warn = (event: Event) => event.preventDefault();

// show tells the page how many changes wait. stopped means that they cannot be sent now.
function show(stopped: boolean): void {
  const waiting = queue.filter((change) => !change.hidden).length;
  if (stopped === state.stopped && waiting === state.waiting) return;
  state = { waiting, stopped };
  if (stopped && waiting > 0) addEventListener("beforeunload", warn);
  else removeEventListener("beforeunload", warn);
  for (const listener of listeners) listener();
}

export const outbox = {
  // put sends a change after those that wait, and returns when it is over.
  async put(change: Change): Promise<void> {
    queue.push(change);
    show(state.stopped);
    const end = new Promise<void>((resolve) => over.set(change, resolve));
    void sendAll();
    await end;
  },

  // remove takes out a change that is over.
  remove(change: Change): void {
    const at = queue.indexOf(change);
    if (at < 0) return;
    queue.splice(at, 1);
    show(state.stopped);
    over.get(change)?.();
    over.delete(change);
  },

  // pause waits until it is time for another try: after a while, which grows with each failure, or
  // when the browser is online again, but not before the time that the service asks for.
  pause({ retryAfter }: ApiError): Promise<void> {
    show(true);
    const wait = Math.min(shortest * 2 ** failures++, longest) * (0.75 + Math.random() / 2);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        removeEventListener("online", end);
        resolve();
      };
      const timer = setTimeout(end, Math.max(wait, retryAfter * 1000));
      if (!retryAfter) addEventListener("online", end);
    });
  },

  // answered says that the service has answered.
  answered(): void {
    failures = 0;
    show(false);
  },

  // stop says that nothing can be sent until the user logs in, and returns whether changes wait.
  stop(): boolean {
    show(true);
    return state.waiting > 0;
  },

  // drop forgets all changes, because another user takes over.
  drop(): void {
    queue.length = 0;
    show(false);
  },

  // applied returns a request as the page shows it: with the changes that wait.
  applied<R extends Triaged>(request: R, box?: string): R | undefined {
    let now: R | undefined = request;
    for (const change of queue) now = now && change.applied(now, box);
    return now;
  },

  // continueFrom starts the changes after a change from another row.
  continueFrom<R extends Versioned>(row: R, after: Change): void {
    queue.slice(queue.indexOf(after) + 1).reduce((now, change) => change.continueFrom(now), row);
  },

  // changed says that a change became hidden.
  changed: (): void => show(state.stopped),

  waiting: (): number => state.waiting,
  has: (change: Change): boolean => queue.includes(change),
  stopped: (): boolean => state.stopped,
};

async function sendAll(): Promise<void> {
  if (sending) return;
  sending = true;
  for (let change = queue[0]; change; change = queue[0]) {
    await change.send().catch(reportError);
    outbox.remove(change);
  }
  sending = false;
}

// useOutbox returns how many changes wait, and whether they cannot be sent now.
export function useOutbox(): State {
  return useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => state);
}
