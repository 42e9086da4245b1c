import { useEffect, useState } from "react";

import { Button } from "./Button";
import { CheckIcon, CopyIcon } from "./icons";

// Puts the text into the clipboard, and says so. label says what is copied, "Copy the key".
export function CopyButton({ text, label, children }: { text: string; label: string; children?: string }) {
  const [outcome, setOutcome] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(""), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = () => put(text).then(() => setOutcome("copied"), () => setOutcome("failed"));
  const says = { "": children ?? "Copy", copied: "Copied", failed: "Select it and copy it" }[outcome];
  return (
    <>
      <Button small aria-label={outcome ? says : label} onPress={copy}>
        {outcome === "copied" ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
        {says}
      </Button>
      <span className="visually-hidden" role="status">
        {outcome && says}
      </span>
    </>
  );
}

// Pages that are reached by plain http from elsewhere have no clipboard, but can still answer
// what a selection would be copied as.
async function put(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const answer = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopPropagation();
    event.clipboardData?.setData("text/plain", text);
  };
  document.addEventListener("copy", answer, { capture: true });
  const copied = document.execCommand("copy");
  document.removeEventListener("copy", answer, { capture: true });
  if (!copied) throw new Error("no clipboard");
}
