import { queryOptions } from "@tanstack/react-query";

import { call } from "../api/call";
import type { App, Where } from "../api/types";

export type Sharing = App["settings"]["sharing"];

// What people outside would see with this sharing. Its key is that of facets, so that it is read again
// after every change of requests.
export const checkQuery = (app_id: string, sharing: Sharing) =>
  queryOptions({
    queryKey: ["requests", "facets", "portal", app_id, sharing],
    queryFn: async ({ signal }) => {
      const { statuses, with_address, link_created_at } = await call("portal-check", { app_id, sharing }, signal);
      return { statuses: statuses ?? [], found: with_address ?? [], linkCreated: link_created_at };
    },
  });

export type Checked = Awaited<ReturnType<NonNullable<ReturnType<typeof checkQuery>["queryFn"]>>>;

// The number of requests that match a filter.
export const numberQuery = (where: Where) =>
  queryOptions({
    queryKey: ["requests", "facets", "portal", where],
    queryFn: async ({ signal }) => (await call("requests-list", { ...where, limit: 1 }, signal)).total_count,
  });

export const blockedQuery = (app_id: string) =>
  queryOptions({
    queryKey: ["people", "blocked", app_id],
    queryFn: async ({ signal }) => (await call("people-blocked", { app_id }, signal)).people,
  });
