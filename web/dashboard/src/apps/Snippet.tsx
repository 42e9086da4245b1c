import { CopyButton } from "../ui/CopyButton";

// Code to take away. label says what it is.
export function Snippet({ label, code }: { label: string; code: string }) {
  return (
    <div className="snippet">
      <pre tabIndex={0} role="region" aria-label={label}><code>{code}</code></pre>
      <CopyButton text={code} label={`Copy ${label}`} />
    </div>
  );
}
