import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { call } from "../api/call";
import type { Where } from "../api/types";

// The most tags that come with numbers.
export const mostTags = 30;

// The number of requests for each option of each filter.
export const facetsQuery = (where: Where) =>
  queryOptions({
    queryKey: ["requests", "facets", where] as const,
    queryFn: ({ signal }) => call("requests-facets", where, signal),
    placeholderData: keepPreviousData,
    // The index follows a large change for some seconds.
    refetchInterval: ({ state }) => !!state.data?.statuses.some(({ exact }) => !exact) && 2_000,
  });
