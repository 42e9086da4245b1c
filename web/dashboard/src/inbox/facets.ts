import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { call } from "../api/call";
import type { Where } from "../api/types";

// How many requests the list would have for each value of each facet.
export const facetsQuery = (where: Where) =>
  queryOptions({
    queryKey: ["requests", "facets", where] as const,
    queryFn: ({ signal }) => call("requests-facets", where, signal),
    placeholderData: keepPreviousData,
  });
