import { Link, type ErrorComponentProps } from "@tanstack/react-router";
import { useEffect, useState } from "react";

import { unreachable } from "../api/send";
import { usePageTitle } from "../shell/title";
import { Failure } from "../ui/states";
import { Narrow } from "./Narrow";

export function NotFound() {
  usePageTitle("Not found");
  return (
    <Narrow title="There is no such page" lead="The address may be mistyped, or the page may have moved.">
      <Link to="/">Go to the inbox</Link>
    </Narrow>
  );
}

// Something on the page is broken, or a part of it could not be fetched: that is not asked
// for again before the page is loaded anew, which waits until Gatherkit can be reached.
export function BrokenPage({ error }: ErrorComponentProps) {
  const [away, setAway] = useState(!navigator.onLine);
  const again = () => void fetch(location.href).then((answer) => (answer.ok ? location.reload() : setAway(true)), () => setAway(true));
  useEffect(() => {
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, []);
  return <Failure alone error={away ? unreachable() : error instanceof Error ? error : new Error(String(error))} onRetry={again} />;
}
