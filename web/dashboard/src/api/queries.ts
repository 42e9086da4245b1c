import { notifyManager, QueryClient, queryOptions } from "@tanstack/react-query";

import { ApiError, call } from "./call";
import type { Member } from "./types";

// A change is on the page before the next key is read, and not a turn later.
notifyManager.setScheduler(queueMicrotask);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What the service refuses, it refuses again; an outage is waited for.
      retry: (failures, error) => error instanceof ApiError && error.passing && failures < 4,
      retryDelay: (failures) => Math.min(500 * 2 ** failures, 8_000),
      networkMode: "always", // "offline" says little about a service on the same machine
    },
    mutations: { networkMode: "always" },
  },
});

// All apps, oldest first.
export const appsQuery = queryOptions({
  queryKey: ["apps"],
  queryFn: async ({ signal }) => (await call("apps-list", {}, signal)).apps,
});

// All users, in the order in which they came.
export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: async ({ signal }) => {
    const users: Member[] = [];
    let cursor = "";
    do {
      const page = await call("users-list", { limit: 200, ...(cursor && { cursor }) }, signal);
      users.push(...page.users);
      cursor = page.next_cursor;
    } while (cursor);
    return users;
  },
  staleTime: 60_000,
});

// The account's tags: at most the first thousand, by their letters.
export const tagsQuery = queryOptions({
  queryKey: ["tags"],
  queryFn: async ({ signal }) => {
    const tags: { tag: string; requests: number }[] = [];
    let cursor = "";
    do {
      const page = await call("tags-list", { limit: 200, ...(cursor && { cursor }) }, signal);
      tags.push(...page.tags);
      cursor = page.next_cursor;
    } while (cursor && tags.length < 1_000);
    return tags;
  },
  staleTime: 30_000,
});
