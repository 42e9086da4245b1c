import { useInfiniteQuery } from "@tanstack/react-query";

import { Time } from "../ui/marks";
import { historyQuery } from "./details";
import { More, Section, Waiting } from "./Section";

export function History({ id }: { id: string }) {
  const history = useInfiniteQuery(historyQuery(id));
  const events = history.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <Section title="History" count={history.data?.pages[0]?.total_count}>
      <Waiting query={history} lines={3} />
      <ol className="events">
        {events.map((event) => <li key={event.number}><span>{event.summary}</span> <span className="quiet"><Time at={event.at} /></span></li>)}
      </ol>
      <More query={history}>Show earlier changes</More>
    </Section>
  );
}
