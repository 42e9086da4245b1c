import type { Target } from "./changes";
import type { Row } from "./rows";

// Names are found, and tags compared, without case.
export function fold(text: string): string {
  return text.trim().toLowerCase();
}

// What is the same of all requests that are to change, as far as that is known.
export function shared<T>(target: Target, of: (request: Row) => T): T | undefined {
  if (!("requests" in target)) return undefined;
  const [first, ...others] = target.requests.map(of);
  return others.every((other) => other === first) ? first : undefined;
}
