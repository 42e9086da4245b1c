import { useEffect, useState } from "react";

import { Button } from "./Button";
import { copyText } from "./copyText";
import { CheckIcon, CopyIcon } from "./icons";

interface Props {
  text: string;
  label: string; // its accessible name, such as "Copy API key"
  children?: string;
  onFailed?(): void; // for a text that the page does not show
}

// CopyButton copies the text and confirms it.
export function CopyButton({ text, label, children, onFailed }: Props) {
  const [outcome, setOutcome] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(""), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = () => copyText(text).then(() => setOutcome("copied"), onFailed ?? (() => setOutcome("failed")));
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
