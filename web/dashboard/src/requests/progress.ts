import { useSyncExternalStore } from "react";

// The progress of a long change. There is one at a time.
type Progress = { text: string; done: number; total: number; stop: AbortController };

// The page shows at most ten states in a second: each would take as long to paint as a page of
// requests to read.
const between = 100; // milliseconds

let now: Progress | undefined;
let shown = 0;
const listeners = new Set<() => void>();

export function report(progress: Progress | undefined): void {
  const time = performance.now();
  const soon = now?.text === progress?.text && time - shown < between;
  now = progress;
  if (soon) return;
  shown = time;
  for (const listener of listeners) listener();
}

export function useProgress(): Progress | undefined {
  return useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => now);
}
