import { infiniteQueryOptions, queryOptions, useQueryClient } from "@tanstack/react-query";

import { ApiError, call, type Params, type Result } from "../api/call";
import { notifyError } from "../ui/notices";

export type Mention = Result<"mentions-list">["mentions"][number];

// How often to ask for new mentions, while the tab is visible.
const every = 60_000;

// How many mentions are unread.
export const unreadQuery = queryOptions({
  queryKey: ["mentions", "unread"],
  queryFn: async ({ signal }) => (await call("mentions-list", { unread: true, limit: 1 }, signal)).total_count,
  refetchInterval: every,
});

export const mentionsQuery = infiniteQueryOptions({
  queryKey: ["mentions", "list"],
  queryFn: ({ pageParam: cursor, signal }) => call("mentions-list", { limit: 50, ...(cursor && { cursor }) }, signal),
  initialPageParam: "",
  getNextPageParam: (page) => page.next_cursor || undefined,
  refetchInterval: every,
});

// useReading returns a function that marks mentions as read.
export function useReading(): (which: Params<"mentions-read">) => Promise<void> {
  const client = useQueryClient();
  return async (which) => {
    try {
      await call("mentions-read", which);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "mentions.not_found")) notifyError(error);
    }
    await client.invalidateQueries({ queryKey: ["mentions"] });
  };
}
