import { useEffect, type RefObject } from "react";

// useKeptFocus keeps the focus nearby when the focused element disappears, such as a saved field
// or the button of a removed line. The focus goes to the nearest ancestor with tabIndex -1, or
// else to the heading.
export function useKeptFocus(part: RefObject<HTMLElement | null>, heading: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = part.current;
    if (!element) return;
    let last: Element | undefined;
    let around: HTMLElement[] = [];
    function remember({ target }: FocusEvent) {
      last = target as Element;
      around = [];
      for (let at = last.parentElement; at && at !== element; at = at.parentElement) {
        if (at.tabIndex === -1 && at.hasAttribute("tabindex")) around.push(at);
      }
    }
    const observer = new MutationObserver(() => {
      if (!last || last.isConnected || document.activeElement !== document.body) return;
      last = undefined;
      (around.find((one) => one.isConnected) ?? heading.current)?.focus({ preventScroll: true });
    });
    element.addEventListener("focusin", remember);
    observer.observe(element, { childList: true, subtree: true });
    return () => {
      element.removeEventListener("focusin", remember);
      observer.disconnect();
    };
  }, [part, heading]);
}
