import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { call, type Result } from "../api/call";
import type { Where } from "../api/types";
import type { Days } from "./range";

export type Stats = Result<"requests-stats">;

// The keys begin with "requests", so that whatever changes requests makes these numbers stale.

export function statsQuery(days: Days, app: string | undefined) {
  return queryOptions({
    queryKey: ["requests", "stats", days, app ?? null],
    queryFn: ({ signal }) => call("requests-stats", { ...days, ...(app && { app_id: app }) }, signal),
    placeholderData: keepPreviousData,
  });
}

export function topVotedQuery(where: Where) {
  return queryOptions({
    queryKey: ["requests", "top-voted", where],
    queryFn: ({ signal }) => call("requests-list", { ...where, sort: "most_voted", limit: 10 }, signal),
    placeholderData: keepPreviousData,
  });
}

// Whether there is any request at all, whenever it came.
export const anyRequestQuery = queryOptions({
  queryKey: ["requests", "any"],
  queryFn: async ({ signal }) => (await call("requests-list", { limit: 1 }, signal)).total_count > 0,
});
