import { useEffect } from "react";

// usePageTitle names the page in the browser's tab, which screen readers say first.
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Gatherkit` : "Gatherkit";
  }, [title]);
}
