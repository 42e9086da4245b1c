import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { call } from "../api/call";

// What a request's page shows. All keys begin with "requests", so that a change can say
// that everything about requests is to be read again.

export const similarQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", "similar", id],
    queryFn: async ({ signal }) => (await call("requests-similar", { id }, signal)).requests,
    staleTime: 60_000,
  });

// The live requests of an app that have all these words.
export const searchQuery = (app_id: string, query: string) =>
  queryOptions({
    queryKey: ["requests", "search", app_id, query],
    queryFn: async ({ signal }) => (await call("requests-list", { app_id, query, limit: 20 }, signal)).requests,
  });

export const votesQuery = (request_id: string) =>
  infiniteQueryOptions({
    queryKey: ["requests", "votes", request_id],
    queryFn: ({ pageParam: cursor, signal }) => call("votes-list", { request_id, limit: 10, ...(cursor && { cursor }) }, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

export const commentsQuery = (request_id: string) =>
  infiniteQueryOptions({
    queryKey: ["requests", "comments", request_id],
    queryFn: ({ pageParam: cursor, signal }) => call("comments-list", { request_id, limit: 50, ...(cursor && { cursor }) }, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

export const historyQuery = (request_id: string) =>
  infiniteQueryOptions({
    queryKey: ["requests", "history", request_id],
    queryFn: ({ pageParam: cursor, signal }) => call("requests-history", { request_id, limit: 200, ...(cursor && { cursor }) }, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

// The request if it lies in that box, or null. requests-get says neither where a request lies
// nor what is in the bin; but a list shows it, as ids carry the time of their making.
export const boxQuery = (id: string, box: "bin" | "quarantine") =>
  queryOptions({
    queryKey: ["requests", "box", id, box],
    queryFn: async ({ signal }) => {
      const time = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
      const [created_after, created_before] = [time, time + 1].map((at) => new Date(at).toISOString());
      const { requests } = await call("requests-list", { box, created_after: created_after!, created_before: created_before!, limit: 200 }, signal);
      return requests.find((request) => request.id === id) ?? null;
    },
  });
