import { useState } from "react";

// A draft holds what somebody has changed and not saved yet. It lies over what the service
// says: so what others change meanwhile is seen, and only one's own changes are sent.
export interface Draft<T> {
  value: T;
  // What differs from the service's word.
  changes: Partial<T>;
  dirty: boolean;
  change(part: Partial<T>): void;
  discard(): void;
  // Drops what was saved; what was typed meanwhile stays.
  settle(sent: Partial<T>): void;
}

// without leaves out the values that are the same elsewhere.
function without<T extends object>(edits: Partial<T>, same: Partial<T>): Partial<T> {
  const differs = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(same[name as keyof T]);
  return Object.fromEntries(Object.entries(edits).filter(differs)) as Partial<T>;
}

export function useDraft<T extends object>(saved: T): Draft<T> {
  const [edits, setEdits] = useState<Partial<T>>({});
  const changes = without(edits, saved);
  return {
    value: { ...saved, ...edits },
    changes,
    dirty: Object.keys(changes).length > 0,
    change: (part) => setEdits((before) => ({ ...before, ...part })),
    discard: () => setEdits({}),
    settle: (sent) => setEdits((before) => without(before, sent)),
  };
}
