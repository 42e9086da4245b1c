import { Link, type ErrorComponentProps } from "@tanstack/react-router";
import { useEffect, useState } from "react";

import { unreachable } from "../api/send";
import { usePageTitle } from "../shell/title";
import { Failure } from "../ui/states";
import { Narrow } from "./Narrow";

export function NotFound() {
  usePageTitle("Page not found");
  return (
    <Narrow title="Page not found" intro="Check the address. The page may have moved.">
      <Link to="/">Go to inbox</Link>
    </Narrow>
  );
}

// BrokenPage replaces a page that failed, or whose script could not be loaded. Browsers do not
// fetch a failed script again, so a retry reloads the whole page once Gatherkit answers.
export function BrokenPage({ error }: ErrorComponentProps) {
  const [offline, setOffline] = useState(!navigator.onLine);
  const retry = () =>
    void fetch(location.href).then((answer) => (answer.ok ? location.reload() : setOffline(true)), () => setOffline(true));
  useEffect(() => {
    addEventListener("online", retry);
    return () => removeEventListener("online", retry);
  }, []);
  return <Failure alone error={offline ? unreachable() : error instanceof Error ? error : new Error(String(error))} onRetry={retry} />;
}
