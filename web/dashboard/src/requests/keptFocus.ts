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

// useSteadyFocus keeps the focused element where it is on the screen while the content around it
// changes its height, such as when comments arrive above the field for a new one. Browsers do that
// themselves (CSS Scroll Anchoring), except while the scrolling parent of the content is at its top.
export function useSteadyFocus(content: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = content.current;
    const parent = element?.parentElement;
    if (!element || !parent) return;
    let top: number | undefined; // of the focused element, if it is in view
    function remember() {
      const focused = element!.contains(document.activeElement) && document.activeElement!.getBoundingClientRect();
      const view = parent!.getBoundingClientRect();
      top = focused && focused.bottom > view.top && focused.top < view.bottom ? focused.top : undefined;
    }
    const observer = new ResizeObserver(() => {
      const focused = document.activeElement;
      if (top !== undefined && element.contains(focused)) parent.scrollTop += focused!.getBoundingClientRect().top - top;
      remember();
    });
    element.addEventListener("focusin", remember);
    parent.addEventListener("scroll", remember);
    observer.observe(element);
    return () => {
      element.removeEventListener("focusin", remember);
      parent.removeEventListener("scroll", remember);
      observer.disconnect();
    };
  }, [content]);
}
