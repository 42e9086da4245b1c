import type { FeatureRequest, Where } from "../api/types";
import type { Row } from "./rows";

// What is to be changed: requests, or all that a filter matches. count is how many those
// are; with atLeast they have not all been counted.
export type Target = { requests: (FeatureRequest | Row)[] } | Matching;
export type Matching = { matching: Where; count: number; atLeast?: boolean };

// What is the same of all requests that are to change, as far as that is known.
export function shared<T>(target: Target, of: (request: Row) => T): T | undefined {
  if (!("requests" in target)) return undefined;
  const [first, ...others] = target.requests.map(of);
  return others.every((other) => other === first) ? first : undefined;
}
