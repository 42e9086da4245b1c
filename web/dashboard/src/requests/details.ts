import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { call, type Params } from "../api/call";
import { everyPage } from "../api/queries";
import type { FeatureRequest } from "../api/types";

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

// How the service tells apart the people who vote.
export type Person = Omit<Params<"votes-add">, "request_id">;

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

// How much of a history is read for what was merged, in pages of 200, and how many requests
// are shown as merged into one.
const mostPages = 10;
const mostMerged = 100;

// What is merged into a request, also by way of another one. The histories tell: each knows
// what was merged into its own request.
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

// mergedBy returns what was merged into a request and not taken out again, oldest first.
async function mergedBy(request_id: string, signal: AbortSignal): Promise<Set<string>> {
  const pages = await everyPage((cursor) => call("requests-history", { request_id, limit: 200, ...cursor }, signal), mostPages);
  const ids = new Set<string>();
  for (const { kind, before, after } of pages.flatMap((page) => page.events).reverse()) {
    if (kind === "request.merged" && typeof after["merged_id"] === "string") ids.add(after["merged_id"]);
    if (kind === "request.unmerged" && typeof before["merged_id"] === "string") ids.delete(before["merged_id"]);
  }
  return ids;
}

// The request if it lies in that box, or null. requests-get says neither where a request lies
// nor what is in the bin; but a list shows it, as ids carry the time of their making.
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
