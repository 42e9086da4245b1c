import type { Result } from "./call";

export type Quota = Result<"account-usage">["quotas"][number];

// near reports whether most of a quota is used.
export function near({ used, most }: Quota): boolean {
  return most !== null && used > 0 && used >= 0.8 * most;
}
