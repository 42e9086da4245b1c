import type { FeatureRequest, Where } from "../api/types";
import type { Row } from "./rows";

// A Target is what to change: requests, or all that match a filter. count is their number; with
// atLeast, there may be more.
export type Target = { requests: Targeted[] } | Matching;
export type Targeted = FeatureRequest | Row;
export type Matching = { matching: Where; count: number; atLeast?: boolean };

// shared returns the value that all requests of a target have in common, or undefined.
export function shared<T>(target: Target, of: (request: Targeted) => T): T | undefined {
  if (!("requests" in target)) return undefined;
  const [first, ...others] = target.requests.map(of);
  return others.every((other) => other === first) ? first : undefined;
}
