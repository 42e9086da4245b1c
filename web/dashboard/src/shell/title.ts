import { useEffect } from "react";

// usePageTitle sets the title of the document, which screen readers announce first.
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Gatherkit` : "Gatherkit";
  }, [title]);
}
