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
}

export function useDraft<T extends object>(saved: T): Draft<T> {
  const [edits, setEdits] = useState<Partial<T>>({});
  const differs = (name: string) => JSON.stringify(edits[name as keyof T]) !== JSON.stringify(saved[name as keyof T]);
  const changes = Object.fromEntries(Object.entries(edits).filter(([name]) => differs(name))) as Partial<T>;
  return {
    value: { ...saved, ...edits },
    changes,
    dirty: Object.keys(changes).length > 0,
    change: (part) => setEdits((before) => ({ ...before, ...part })),
    discard: () => setEdits({}),
  };
}
