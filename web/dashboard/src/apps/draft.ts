import { useState } from "react";

// A Draft has unsaved changes on top of saved values. So changes of other users show, and only
// the user's own changes are sent.
export interface Draft<T> {
  value: T;
  // What differs from the saved values.
  changes: Partial<T>;
  dirty: boolean;
  change(part: Partial<T>): void;
  discard(): void;
  // Drops the changes that were saved, and keeps later ones.
  settle(sent: Partial<T>): void;
}

// without leaves out the values that are the same in both.
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
