import { Link, type ErrorComponentProps } from "@tanstack/react-router";

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

// Something on the page is broken, or a part of it could not be fetched.
export function BrokenPage({ error, reset }: ErrorComponentProps) {
  return <Failure alone error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />;
}
