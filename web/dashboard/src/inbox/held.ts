import { infiniteQueryOptions } from "@tanstack/react-query";

import { call } from "../api/call";

// The comments on portals that wait until the team releases them, oldest first.
export const heldQuery = (app: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ["comments", "held", app],
    queryFn: ({ pageParam: cursor, signal }) =>
      call("comments-held", { limit: 50, ...(app && { app_id: app }), ...(cursor && { cursor }) }, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });
