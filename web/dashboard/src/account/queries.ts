import { queryOptions } from "@tanstack/react-query";

import { call, type Result } from "../api/call";

export type Session = Result<"sessions-list">["sessions"][number];

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: async ({ signal }) => (await call("sessions-list", {}, signal)).sessions,
  staleTime: 0,
});
