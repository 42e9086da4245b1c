import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { useEffect } from "react";

import { useSession } from "../api/session";
import { Button } from "../ui/Button";
import { useChanges } from "./changes";
import { historyQuery, votesQuery } from "./details";
import { RequestLine } from "./RequestLine";
import { requestQuery } from "./rows";
import { Section } from "./Section";

// How much of a history is read for it by itself: 2,000 entries.
const mostPages = 10;

// What is merged into this request. Its history tells, of which votes are the most; and so do
// the votes that are shown, of what came along with another one.
export function MergedIn({ id }: { id: string }) {
  const member = useSession().can("member");
  const { unmerge } = useChanges();
  const history = useInfiniteQuery(historyQuery(id));
  const { hasNextPage, isFetching, fetchNextPage } = history;
  const read = history.data?.pages.length ?? 0;
  useEffect(() => {
    if (hasNextPage && !isFetching && read < mostPages) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage, read]);

  const events = (history.data?.pages ?? []).flatMap((page) => page.events).toReversed(); // oldest first
  const ids = new Set<string>();
  for (const { kind, before, after } of events) {
    if (kind === "request.merged" && typeof after["merged_id"] === "string") ids.add(after["merged_id"]);
    if (kind === "request.unmerged" && typeof before["merged_id"] === "string") ids.delete(before["merged_id"]);
  }
  const votes = useInfiniteQuery(votesQuery(id));
  for (const vote of votes.data?.pages.flatMap((page) => page.votes) ?? []) if (vote.request_id !== id) ids.add(vote.request_id);
  const found = useQueries({ queries: [...ids].map((one) => requestQuery(one)) });
  const merged = found.flatMap(({ data }) => (data?.merged_into_id === id ? [data] : []));
  if (merged.length === 0) return null;
  return (
    <Section title="Merged into this one" count={merged.length}>
      <ul className="lines">
        {merged.map((request) => (
          <RequestLine key={request.id} request={request}>
            {member && <Button small kind="quiet" aria-label={`Take out ${request.title}`} onPress={() => void unmerge(request)}>Take out</Button>}
          </RequestLine>
        ))}
      </ul>
    </Section>
  );
}
