import { useEffect, useState } from "react";

import { Button } from "./Button";
import { CheckIcon, CopyIcon } from "./icons";

// CopyButton copies the text and confirms it. label is its accessible name, such as "Copy API key".
export function CopyButton({ text, label, children }: { text: string; label: string; children?: string }) {
  const [outcome, setOutcome] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(""), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = () => copyText(text).then(() => setOutcome("copied"), () => setOutcome("failed"));
  const content = { "": children ?? "Copy", copied: "Copied", failed: "Could not copy" }[outcome];
  return (
    <>
      <Button small aria-label={outcome ? content : label} onPress={copy}>
        {outcome === "copied" ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
        {content}
      </Button>
      <span className="visually-hidden" role="status">
        {outcome && content}
      </span>
    </>
  );
}

// Pages over HTTP have no clipboard API, but they can handle the copy event.
async function copyText(text: string): Promise<void> {
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
