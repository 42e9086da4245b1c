import { queryOptions } from "@tanstack/react-query";

import { call } from "../api/call";

// The reply templates of the account, by name.
export const templatesQuery = queryOptions({
  queryKey: ["templates"],
  queryFn: async ({ signal }) => {
    const { templates } = await call("templates-list", {}, signal);
    return templates.sort((a, b) => a.name.localeCompare(b.name));
  },
  staleTime: 60_000,
});
