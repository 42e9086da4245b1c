import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { FeatureRequest } from "../api/types";
import { Button } from "../ui/Button";
import { Time } from "../ui/marks";
import { usePrinting } from "../ui/printing";
import { toldOf } from "./audience";
import { historyQuery } from "./details";
import { Folded, More, Waiting } from "./Section";

const shownAtFirst = 10;

export function History({ request: { id, created_at, updated_at } }: { request: FeatureRequest }) {
  const latest = updated_at !== created_at && <span className="quiet small">Updated <Time at={updated_at} /></span>;
  return <Folded title="History" action={latest}><Events id={id} /></Folded>;
}

function Events({ id }: { id: string }) {
  const [all, setAll] = useState(false);
  const history = useInfiniteQuery(historyQuery(id));
  const events = history.data?.pages.flatMap((page) => page.events) ?? [];
  const printing = usePrinting();
  const hides = !all && !printing && events.length > shownAtFirst;
  return (
    <>
      <Waiting query={history} lines={3} />
      <ol className="events">
        {(hides ? events.slice(0, shownAtFirst) : events).map((event) => (
          <li key={event.number}>
            {event.summary} {toldOf(event.after)}{" "}
            <span className="quiet">
              <Time at={event.at} />
            </span>
          </li>
        ))}
      </ol>
      {hides ? (
        <Button small kind="quiet" onPress={() => setAll(true)}>
          Show older changes
        </Button>
      ) : (
        <More query={history}>Show older changes</More>
      )}
    </>
  );
}
