import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { call, type Params } from "../api/call";
import { everyPage } from "../api/queries";
import type { FeatureRequest } from "../api/types";

// The queries of a request's page. All keys begin with "requests", so that one call can
// invalidate everything about requests.

export const similarQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", "similar", id],
    queryFn: async ({ signal }) => (await call("requests-similar", { id }, signal)).requests,
    staleTime: 60_000,
  });

// The live requests of an app that contain all words.
export const searchQuery = (app_id: string, query: string) =>
  queryOptions({
    queryKey: ["requests", "search", app_id, query],
    queryFn: async ({ signal }) => (await call("requests-list", { app_id, query, limit: 20 }, signal)).requests,
  });

// What requests-get returns beside the request: its links to issues, and who sees a change.
export const besideQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", "beside", id],
    queryFn: ({ signal }) => call("requests-get", { id }, signal),
  });

// Person identifies a voter.
export type Person = Omit<Params<"votes-remove">, "request_id">;

// NewVote is a person's vote.
export type NewVote = Omit<Params<"votes-add">, "request_id">;

export const votesOfPage = 10;
export const votesQuery = (request_id: string) =>
  infiniteQueryOptions({
    queryKey: ["requests", "votes", request_id],
    queryFn: ({ pageParam: cursor, signal }) => call("votes-list", { request_id, limit: votesOfPage, ...(cursor && { cursor }) }, signal),
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

// The limits of mergedQuery: pages of a history, with 200 events each, and merged requests.
const mostPages = 10;
const mostMerged = 100;

// The requests that are merged into a request, directly or through another one. They come from
// the histories: each has the merges into its own request.
export const mergedQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", "merged", id],
    queryFn: async ({ signal }) => {
      const found: FeatureRequest[] = [];
      for (const waiting = [id]; waiting.length > 0 && found.length < mostMerged;) {
        for (const one of await mergedBy(waiting.shift()!, signal)) {
          const { request } = await call("requests-get", { id: one }, signal);
          if (request.merged_into_id !== id || found.some((other) => other.id === one)) continue;
          found.push(request);
          waiting.push(one);
        }
      }
      return found;
    },
  });

// mergedBy returns the requests that were merged directly and not unmerged, oldest first.
async function mergedBy(request_id: string, signal: AbortSignal): Promise<Set<string>> {
  const pages = await everyPage((cursor) => call("requests-history", { request_id, limit: 200, ...cursor }, signal), mostPages);
  const ids = new Set<string>();
  for (const { kind, before, after } of pages.flatMap((page) => page.events).reverse()) {
    if (kind === "request.merged" && typeof after["merged_id"] === "string") ids.add(after["merged_id"]);
    if (kind === "request.unmerged" && typeof before["merged_id"] === "string") ids.delete(before["merged_id"]);
  }
  return ids;
}

// The request if it is in that box, or null. requests-get does not return the box, and finds
// nothing in the bin. A list of the right time does, because ids contain the creation time.
export const boxQuery = (id: string, box: "bin" | "quarantine") =>
  queryOptions({
    queryKey: ["requests", "box", id, box],
    queryFn: async ({ signal }) => {
      const time = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
      const [created_after, created_before] = [time, time + 1].map((at) => new Date(at).toISOString());
      const { requests } = await call(
        "requests-list",
        { box, created_after: created_after!, created_before: created_before!, limit: 200 },
        signal,
      );
      return requests.find((request) => request.id === id) ?? null;
    },
  });
