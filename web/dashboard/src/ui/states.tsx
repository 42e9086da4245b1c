import type { ReactNode } from "react";

import { ApiError } from "../api/call";
import { Button } from "./Button";
import { WarningIcon } from "./icons";
import "./states.css";

// Nothing is here: say what it would be, and lead on by a button. alone: it is all there is
// on the page, so that its heading is the page's.
export function EmptyState({ icon, title, children, alone }: { icon?: ReactNode; title: string; children?: ReactNode; alone?: boolean }) {
  const Heading = alone ? "h1" : "h2";
  return (
    <div className="state">
      {icon && <div className="state-icon">{icon}</div>}
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

// Something could not be loaded.
export function Failure({ error, onRetry, alone }: { error: Error; onRetry(): void; alone?: boolean }) {
  const Heading = alone ? "h1" : "h2";
  return (
    <div className="state" role="alert">
      <div className="state-icon state-trouble"><WarningIcon size={24} /></div>
      <Heading>This could not be loaded</Heading>
      <p>{message(error)}</p>
      <Button onPress={onRetry}>Try again</Button>
    </div>
  );
}

// What to tell people about an error. The service's messages may begin with a field's name,
// such as submitter.email, which people know under another one.
export function message(error: unknown): string {
  if (!(error instanceof ApiError)) return "Something went wrong on this page. Reload it, and try again.";
  const text = error.message.replace(/^[a-z]+[._][a-z._]+ (?=must|is)/, "this ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// The shape of what is being loaded, so that nothing jumps when it comes.
export function Skeleton({ lines = 3, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div className="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => <span key={i} className="skeleton-line" />)}
    </div>
  );
}
