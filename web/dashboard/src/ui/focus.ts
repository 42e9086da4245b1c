// focusPage moves the focus to the page after a dialog whose button is gone.
export const focusPage = (): void => focusAfterDialog(() => document.getElementById("main"));

// focusAfterDialog moves the focus after a dialog whose button is gone.
export function focusAfterDialog(find: () => HTMLElement | null): void {
  // React Aria returns the focus to the button in the next frame.
  const focus = () => document.activeElement === document.body && find()?.focus();
  requestAnimationFrame(() => requestAnimationFrame(focus));
}
