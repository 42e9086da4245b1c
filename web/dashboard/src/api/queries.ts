import { notifyManager, QueryClient, queryOptions } from "@tanstack/react-query";

import { ApiError, call } from "./call";

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

// everyPage reads a list from its beginning, at most so many pages of it.
export async function everyPage<P extends { next_cursor: string }>(
  read: (cursor: { cursor?: string }) => Promise<P>,
  most = Infinity,
): Promise<P[]> {
  const pages = [await read({})];
  for (let cursor = pages[0]!.next_cursor; cursor && pages.length < most; cursor = pages.at(-1)!.next_cursor) {
    pages.push(await read({ cursor }));
  }
  return pages;
}

// All users, in the order in which they came.
export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: async ({ signal }) =>
    (await everyPage((cursor) => call("users-list", { limit: 200, ...cursor }, signal))).flatMap((page) => page.users),
  staleTime: 60_000,
});

// The account's tags: at most the first thousand, by their letters.
export const tagsQuery = queryOptions({
  queryKey: ["tags"],
  queryFn: async ({ signal }) =>
    (await everyPage((cursor) => call("tags-list", { limit: 200, ...cursor }, signal), 5)).flatMap((page) => page.tags),
  staleTime: 30_000,
});
