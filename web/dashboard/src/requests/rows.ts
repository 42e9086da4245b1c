import { infiniteQueryOptions, queryOptions, type InfiniteData } from "@tanstack/react-query";

import { call } from "../api/call";
import type { FeatureRequest, Sort, Where } from "../api/types";

// A request as lists hold it: without its long parts, so that a hundred thousand of them
// fit into a tab.
export type Row = Omit<FeatureRequest, "description" | "metadata" | "attachments" | "submitter">;

type RowsPage = { rows: Row[]; next: string; total: number; exact: boolean };

export type Rows = InfiniteData<RowsPage>;

export function rowOf(request: FeatureRequest | Row): Row {
  const { description: _, metadata: _m, attachments: _a, submitter: _s, ...row } = request as FeatureRequest;
  return row;
}

// readRows reads one page; after the first one, the cursor carries filter and order.
export async function readRows(where: Where, sort: Sort, cursor: string, limit: number, signal?: AbortSignal): Promise<RowsPage> {
  const page = await call("requests-list", cursor ? { cursor, limit } : { ...where, sort, limit }, signal);
  return { rows: page.requests.map(rowOf), next: page.next_cursor, total: page.total_count, exact: page.total_exact };
}

// The rows that a filter matches. They are never read again by themselves, as that would
// move what somebody reads: changes are put into them, and new requests announce themselves.
export const listQuery = (where: Where, sort: Sort) =>
  infiniteQueryOptions({
    queryKey: ["requests", "list", where, sort] as const,
    queryFn: ({ pageParam, signal }) => readRows(where, sort, pageParam, 100, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
    staleTime: Infinity,
    gcTime: 120_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // Comparing every row with every page that comes would take longer with each page.
    structuralSharing: false,
  });

export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", "one", id] as const,
    queryFn: async ({ signal }) => (await call("requests-get", { id }, signal)).request,
  });
