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
  // Pages that are reached by plain http from elsewhere have no clipboard.
  const copy = () => (navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error("no clipboard"))).then(() => setOutcome("copied"), () => setOutcome("failed"));
  const says = { "": children ?? "Copy", copied: "Copied", failed: "Select it and copy it" }[outcome];
  return (
    <>
      <Button small aria-label={outcome ? says : label} onPress={copy}>{outcome === "copied" ? <CheckIcon size={16} /> : <CopyIcon size={16} />}{says}</Button>
      <span className="visually-hidden" role="status">{outcome && says}</span>
    </>
  );
}
