import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { call, type Params, type Result } from "../api/call";
import { appsQuery, queryClient } from "../api/queries";
import type { App, Where } from "../api/types";

// The pages of the list of apps, oldest first.
export const appPages = infiniteQueryOptions({
  queryKey: ["apps", "pages"],
  queryFn: ({ pageParam, signal }) => call("apps-list", { limit: 25, ...(pageParam && { cursor: pageParam }) }, signal),
  initialPageParam: "",
  getNextPageParam: (last) => last.next_cursor || undefined,
});

export const appQuery = (id: string) => queryOptions({
  queryKey: ["apps", "one", id],
  queryFn: async ({ signal }) => (await call("apps-get", { id }, signal)).app,
});

async function countOf(where: Where, signal: AbortSignal): Promise<number> {
  return (await call("requests-list", { ...where, limit: 1 }, signal)).total_count;
}

// The number of an app's requests in each box.
export const boxesQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", "boxes", id],
    queryFn: async ({ signal }) => {
      const [live, quarantine, bin] = await Promise.all(
        (["live", "quarantine", "bin"] as const).map((box) => countOf({ app_id: id, box }, signal)),
      );
      return { live: live!, quarantine: quarantine!, bin: bin! };
    },
  });

// The latest live request of an app, and the number of live requests.
export const latestQuery = (id: string) => queryOptions({
  queryKey: ["requests", "latest", id],
  queryFn: async ({ signal }) => {
    const { requests, total_count } = await call("requests-list", { app_id: id, limit: 1 }, signal);
    return { request: requests[0] ?? null, total: total_count };
  },
});

// testPage is the page that a test request names.
export const testPage = () => location.origin + location.pathname;

// Whether people have sent requests: of the latest ones, any that is not a test from this page.
// latest is the latest request.
export const sentQuery = (id: string, latest: string) => queryOptions({
  queryKey: ["requests", "sent", id, latest],
  queryFn: async ({ signal }) => {
    const { requests } = await call("requests-list", { app_id: id, source: "widget", limit: 20 }, signal);
    return requests.some(({ metadata }) => metadata["page"] !== testPage());
  },
});

type Change = "apps-update" | "apps-update-settings" | "apps-regenerate-key";

// useAppChange runs an operation that returns the app, and updates the app everywhere.
export function useAppChange<O extends Change>(operation: O) {
  const client = useQueryClient();
  return useMutation<Result<O>, Error, Params<O>>({
    mutationFn: (params) => call(operation, params),
    onSuccess: ({ app }: { app: App }) => {
      client.setQueryData(appQuery(app.id).queryKey, app);
      client.setQueryData(appsQuery.queryKey, (apps) => apps?.map((one) => (one.id === app.id ? app : one)));
      void client.invalidateQueries({ queryKey: appPages.queryKey });
    },
  });
}

export function reloadApp(id: string): void {
  void queryClient.invalidateQueries({ queryKey: appQuery(id).queryKey });
}

// forgetApp removes an app from the cached lists, so that no component asks about it.
export function forgetApp(id: string): void {
  const others = (apps: App[]) => apps.filter((app) => app.id !== id);
  queryClient.setQueryData(appsQuery.queryKey, (apps) => apps && others(apps));
  queryClient.setQueryData(
    appPages.queryKey,
    (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, apps: others(page.apps) })) },
  );
}
