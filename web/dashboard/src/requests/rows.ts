import { infiniteQueryOptions, queryOptions, type InfiniteData } from "@tanstack/react-query";

import { call } from "../api/call";
import { outbox } from "../api/outbox";
import type { FeatureRequest, Sort, Where } from "../api/types";
import { cut } from "../text/cut";
import { nameOf } from "./person";

// A Row is a request in a list. It has no long fields, so that a hundred thousand rows fit into
// a tab. sender is the name, e-mail or id of the submitter, and excerpt the beginning of the
// description.
export type Row = Omit<FeatureRequest, "description" | "metadata" | "attachments" | "submitter"> & { sender: string; excerpt: string };

// A page of a list. meant is a query that would match, if this one does not.
type RowsPage = { rows: Row[]; next: string; total: number; exact: boolean; meant?: string };

export type Rows = InfiniteData<RowsPage>;

const mostOfExcerpt = 240;

export function rowOf(request: FeatureRequest | Row): Row {
  if (!("description" in request)) return request;
  const { description, metadata: _, attachments: _a, submitter, ...row } = request;
  return { ...row, sender: nameOf(submitter), excerpt: beginning(description) };
}

// beginning returns the beginning of a text as one line. Replacing the added space makes a new
// string, because a part of the text would keep all of it in memory.
function beginning(text: string): string {
  const characters = cut(text, mostOfExcerpt);
  return (" " + characters).replace(/\s+/g, " ").trim() + (text.length > characters.length ? "…" : "");
}

// readRows reads one page, and applies the changes that wait. After the first page, the cursor
// contains the filter and the order.
export async function readRows(where: Where, sort: Sort, cursor: string, limit: number, signal?: AbortSignal): Promise<RowsPage> {
  const page = await call("requests-list", cursor ? { cursor, limit } : { ...where, sort, limit }, signal);
  const rows = page.requests.flatMap((request) => outbox.applied(rowOf(request), where.box ?? "live") ?? []);
  return {
    rows,
    next: page.next_cursor,
    total: page.total_count - (page.requests.length - rows.length),
    exact: page.total_exact,
    ...(page.did_you_mean && { meant: page.did_you_mean }),
  };
}

// How many rows a page of the list has.
export const rowsOfPage = 100;

// The rows that match a filter. They are not refetched automatically, because rows would move
// while the user reads. useArrivals updates them and announces new requests.
export const listQuery = (where: Where, sort: Sort) =>
  infiniteQueryOptions({
    queryKey: ["requests", "list", where, sort] as const,
    queryFn: ({ pageParam, signal }) => readRows(where, sort, pageParam, rowsOfPage, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
    staleTime: Infinity,
    gcTime: 120_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // It would compare all rows with each new page.
    structuralSharing: false,
  });

export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", "one", id] as const,
    queryFn: async ({ signal }) => readRequest(id, signal),
  });

// readRequest reads a request, and applies the changes that wait.
export async function readRequest(id: string, signal?: AbortSignal): Promise<FeatureRequest> {
  const { request } = await call("requests-get", { id }, signal);
  return outbox.applied(request) ?? request;
}
