import type { KeyboardEvent } from "react";

// sends tells whether a key sends a form that has a field of several lines: Ctrl+Enter or ⌘Enter.
export const sends = (event: KeyboardEvent) => event.key === "Enter" && (event.metaKey || event.ctrlKey);
