import { useEffect, useState } from "react";

// A visit ends when the dashboard was not visible for half an hour. What came in since the end of the
// visit before is new. The browser keeps when that was, for each user.
const pause = 30 * 60_000;
const pulse = 60_000;

type Visit = { since: string; last: string };

// visiting returns the visit at a moment, which may be a new one.
export function visiting(known: Visit | undefined, now: Date): Visit {
  const last = now.toISOString();
  if (!known) return { since: last, last };
  return { since: now.getTime() - Date.parse(known.last) > pause ? known.last : known.since, last };
}

// useVisit returns the time since which requests are new to the user.
export function useVisit(userID: string): string {
  const [since, setSince] = useState(() => note(userID));
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && setSince(note(userID)), pulse);
    return () => clearInterval(timer);
  }, [userID]);
  return since;
}

function note(userID: string): string {
  const key = `gatherkit.visit.${userID}`;
  try {
    const visit = visiting(JSON.parse(localStorage.getItem(key) ?? "null") ?? undefined, new Date());
    localStorage.setItem(key, JSON.stringify(visit));
    return visit.since;
  } catch {
    return new Date().toISOString(); // the browser blocks storage, or the value is not JSON: nothing is new
  }
}
