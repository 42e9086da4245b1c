import { notifyManager, QueryClient, queryOptions } from "@tanstack/react-query";

import { ApiError, call } from "./call";

// Render changes before the browser handles the next key.
notifyManager.setScheduler(queueMicrotask);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A retry helps after an outage, but not after a refusal.
      retry: (failures, error) => error instanceof ApiError && error.temporary && failures < 4,
      retryDelay: (failures) => Math.min(500 * 2 ** failures, 8_000),
      networkMode: "always", // offline browsers still reach a service on the same machine
    },
    mutations: { networkMode: "always" },
  },
});

// All apps, oldest first.
export const appsQuery = queryOptions({
  queryKey: ["apps"],
  queryFn: async ({ signal }) => (await call("apps-list", {}, signal)).apps,
});

// everyPage reads all pages of a list, or only the first ones.
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

// All users, in the order in which they joined.
export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: async ({ signal }) =>
    (await everyPage((cursor) => call("users-list", { limit: 200, ...cursor }, signal))).flatMap((page) => page.users),
  staleTime: 60_000,
});

const natural = new Intl.Collator("en", { numeric: true });

// The account's tags in the order that people count, v2 before v10, at most a thousand.
export const tagsQuery = queryOptions({
  queryKey: ["tags"],
  queryFn: async ({ signal }) => {
    const pages = await everyPage((cursor) => call("tags-list", { limit: 200, ...cursor }, signal), 5);
    return pages.flatMap((page) => page.tags).sort((a, b) => natural.compare(a.tag, b.tag));
  },
  staleTime: 30_000,
});

// What the account has used, and its quotas. Only admins may ask.
export const usageQuery = queryOptions({
  queryKey: ["usage"],
  queryFn: ({ signal }) => call("account-usage", {}, signal),
  refetchInterval: 600_000,
  staleTime: 600_000,
});

// Whether mail works, and how much waits. Only admins may ask.
export const mailQuery = queryOptions({
  queryKey: ["mail"],
  queryFn: ({ signal }) => call("mail-status", {}, signal),
  refetchInterval: 60_000,
});
