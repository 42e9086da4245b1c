import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { call, type Result } from "../api/call";

export type Entry = Result<"entries-get">["entry"];
export type State = Entry["state"];

export const entriesQuery = (app_id: string, state: State) =>
  infiniteQueryOptions({
    queryKey: ["entries", "list", app_id, state],
    queryFn: ({ pageParam: cursor, signal }) => call("entries-list", { app_id, state, limit: 25, ...(cursor && { cursor }) }, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

// The entry that is edited. It is not read again by itself, so that its version is the one that the user sees.
export const entryQuery = (id: string) =>
  queryOptions({
    queryKey: ["entries", "one", id],
    queryFn: async ({ signal }) => (await call("entries-get", { id }, signal)).entry,
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

// What publishing an entry would do if it completes the requests.
export const audienceQuery = (id: string) =>
  queryOptions({
    queryKey: ["entries", "audience", id],
    queryFn: async ({ signal }) => (await call("entries-get", { id }, signal)).audience,
    staleTime: 0,
  });

// The requests of an app to choose from: those with the words, or the most voted ones.
export const choicesQuery = (app_id: string, query: string) =>
  queryOptions({
    queryKey: ["requests", "search", app_id, query, "most voted"],
    queryFn: async ({ signal }) =>
      (await call("requests-list", { app_id, limit: 20, ...(query ? { query } : { sort: "most_voted" as const }) }, signal)).requests,
  });
