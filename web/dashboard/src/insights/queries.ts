import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { call, type Result } from "../api/call";
import type { Where } from "../api/types";
import type { Days } from "./range";

export type Stats = Result<"requests-stats">;

// Each visit reads the numbers again, and shows the previous ones until they arrive.
const fresh = { staleTime: 0, placeholderData: keepPreviousData };

export function statsQuery(days: Days, app: string | undefined) {
  return queryOptions({
    queryKey: ["insights", "stats", days, app ?? null],
    queryFn: ({ signal }) => call("requests-stats", { ...days, ...(app && { app_id: app }) }, signal),
    // The index follows a large change for some seconds.
    refetchInterval: ({ state }) => state.data?.exact === false && 2_000,
    ...fresh,
  });
}

export function topQuery(sort: "most_voted" | "trending", where: Where) {
  return queryOptions({
    queryKey: ["insights", sort, where],
    queryFn: async ({ signal }) => (await call("requests-list", { ...where, sort, limit: 10 }, signal)).requests,
    ...fresh,
  });
}

// Whether there is any request at all.
export const anyRequestQuery = queryOptions({
  queryKey: ["insights", "any"],
  queryFn: async ({ signal }) => (await call("requests-list", { limit: 1 }, signal)).total_count > 0,
  staleTime: 0,
});
