import type { Attempt } from "../api/types";
import { CheckIcon, WarningIcon } from "../ui/icons";
import { number } from "../ui/marks";

// The results of attempts, and what follows.
const outcomes: Record<Attempt["outcome"], { name: string; next?: string }> = {
  delivered: { name: "Delivered" },
  refused: { name: "Refused", next: "The other events go on." },
  failed: { name: "Failed", next: "The other events wait until it works." },
  gone: { name: "Gone", next: "No more events are sent." },
};

// Outcome shows the result of an attempt, with the status and the duration.
export function Outcome({ attempt: { outcome, status, took_ms } }: { attempt: Attempt }) {
  const good = outcome === "delivered";
  return (
    <span className={`hook-state hook-${good ? "good" : "bad"} number`}>
      {good ? <CheckIcon size={16} /> : <WarningIcon size={16} />}
      <span>{outcomes[outcome].name}{status && `, status ${status}`}, {number(took_ms)} ms</span>
    </span>
  );
}

// Answer shows what the endpoint has answered, or what went wrong.
export function Answer({ attempt: { outcome, error, response } }: { attempt: Attempt }) {
  return (
    <>
      {error && <p>{error} {outcomes[outcome].next}</p>}
      {response !== null && (response ? <Text label="Answer" text={response} /> : <p className="quiet">The answer is empty.</p>)}
    </>
  );
}

// Text shows a text with its name. It indents JSON.
export function Text({ label, text }: { label: string; text: string }) {
  return (
    <>
      <p className="field-label">{label}</p>
      <pre className="hook-text" tabIndex={0} role="group" aria-label={label}>{indent(text)}</pre>
    </>
  );
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // not JSON, or cut off
  }
}
