import { CopyButton } from "./CopyButton";
import "./snippet.css";

// Snippet is code to copy. label names it.
export function Snippet({ label, code }: { label: string; code: string }) {
  return (
    <div className="snippet">
      <pre tabIndex={0} role="region" aria-label={label}><code>{code}</code></pre>
      <CopyButton text={code} label={`Copy ${label}`} />
    </div>
  );
}
