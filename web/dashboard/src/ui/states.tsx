import type { ReactNode } from "react";

import { ApiError } from "../api/call";
import { Button } from "./Button";
import { WarningIcon } from "./icons";
import "./states.css";

// EmptyState says what would be here and offers the next step. With alone, its heading is the
// page's h1. With live, screen readers announce it.
export function EmptyState({ icon, title, children, alone, live }: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  alone?: boolean;
  live?: boolean;
}) {
  const Heading = alone ? "h1" : "h2";
  return (
    <div className="state" role={live ? "status" : undefined}>
      {icon && <div className="state-icon">{icon}</div>}
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

export function Failure({ error, onRetry, alone }: { error: Error; onRetry(): void; alone?: boolean }) {
  const Heading = alone ? "h1" : "h2";
  return (
    <div className="state" role="alert">
      <div className="state-icon state-error"><WarningIcon size={24} /></div>
      <Heading>Loading failed</Heading>
      <p>{message(error)}</p>
      <Button onPress={onRetry}>Try again</Button>
    </div>
  );
}

// message returns the text to show for an error. It replaces the name of a parameter at the
// start, such as submitter.email, because the form has its own name for it.
export function message(error: unknown): string {
  if (!(error instanceof ApiError)) return "Something went wrong. Reload the page and try again.";
  const text = error.message.replace(/^[a-z]+[._][a-z._]+ (?=must|is)/, "this ").replace(/^url /, "the URL ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Skeleton reserves space for content that is loading, so that nothing jumps.
export function Skeleton({ lines = 3, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div className="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => <span key={i} className="skeleton-line" />)}
    </div>
  );
}
