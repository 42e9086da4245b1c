import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import type { Attempt } from "../api/types";
import { Button } from "../ui/Button";
import { count, number, Time } from "../ui/marks";
import { Failure, message, Skeleton } from "../ui/states";
import { attemptsQuery, latestQuery } from "./data";
import { Answer, Outcome, Text } from "./Outcome";

// Attempts is the delivery log. New attempts wait for a button, so that no row moves under the pointer.
export function Attempts({ id, onSend }: { id: string; onSend(number: number): void }) {
  const log = useInfiniteQuery(attemptsQuery(id));
  const { data: latest = "" } = useQuery(latestQuery(id));
  const heading = useRef<HTMLHeadingElement>(null);
  const { data, refetch, isFetching } = log;
  const attempts = data?.pages.flatMap((page) => page.attempts) ?? [];
  const newer = !!data && latest > (attempts[0]?.id ?? "");
  const first = newer && attempts.length === 0;
  useEffect(() => {
    if (first) void refetch();
  }, [first, refetch]);
  return (
    <section className="card stack" aria-labelledby="hook-attempts">
      <div className="hook-head">
        <h2 id="hook-attempts" ref={heading} tabIndex={-1}>Attempts</h2>
        {newer && !first && (
          <Button small isPending={isFetching} onPress={() => void refetch().then(() => heading.current?.focus())}>
            Show new attempts
          </Button>
        )}
      </div>
      {log.isPending && <Skeleton lines={4} label="Loading attempts" />}
      {log.isError && !data && <Failure error={log.error} onRetry={() => void refetch()} />}
      {data && attempts.length === 0 && <p className="quiet">None yet. Send a test, or change a request.</p>}
      {attempts.length > 0 && (
        <ol className="hooks-log" aria-label="Attempts">
          {attempts.map((attempt) => <Line key={attempt.id} attempt={attempt} onSend={onSend} />)}
        </ol>
      )}
      {log.hasNextPage && (
        <div className="audit-more">
          <Button isPending={log.isFetchingNextPage} onPress={() => void log.fetchNextPage()}>Show more</Button>
          {log.isFetchNextPageError && <p className="field-error" role="alert">{message(log.error)}</p>}
        </div>
      )}
    </section>
  );
}

function Line({ attempt, onSend }: { attempt: Attempt; onSend(number: number): void }) {
  const { at, number: n, events, kind, attempt: times, payload } = attempt;
  return (
    <li>
      <details>
        <summary>
          <Outcome attempt={attempt} />
          <span className="hook-event">
            <span>{events > 1 ? count(events, "event") : n ? kind : "Test"}</span>
            {n > 0 && <span className="quiet small number">Number {number(n)}, attempt {number(times)}</span>}
          </span>
          <span className="quiet small"><Time at={at} /></span>
        </summary>
        <div className="hook-more">
          <Answer attempt={attempt} />
          {payload === null ? (
            <p className="quiet small">Gatherkit keeps what it sent only if the delivery failed.</p>
          ) : (
            <Text label="Sent" text={payload} />
          )}
          {n > 0 && <div><Button small onPress={() => onSend(n)}>Send again</Button></div>}
        </div>
      </details>
    </li>
  );
}
