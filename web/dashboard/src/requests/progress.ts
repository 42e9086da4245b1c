import { useSyncExternalStore } from "react";

// The progress of a long change. There is one at a time.
type Progress = { text: string; done: number; total: number; stop: AbortController };

let now: Progress | undefined;
const listeners = new Set<() => void>();

export function report(progress: Progress | undefined): void {
  now = progress;
  for (const listener of listeners) listener();
}

export function useProgress(): Progress | undefined {
  return useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => now);
}
