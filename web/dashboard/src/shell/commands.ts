import { useEffect, useLayoutEffect, useRef } from "react";

// Something that a person can do here: by a key, or from the palette.
export interface Command {
  name: string;
  group: string;
  // "j", "#", "Enter", "shift+x"; "g i" is one key after another.
  keys?: string[];
  // Moves about only, so that the palette leaves it out.
  bare?: boolean;
  // Keys that mean it only when this is true.
  keysWhen?: string[];
  when?(): boolean;
  run(): void;
}

// Those of what is on the page, outermost first.
const registered: { current: Command[] }[] = [];

// useCommands offers commands as long as the component is there.
export function useCommands(commands: Command[]): void {
  const held = useRef(commands);
  // At once: the next key may come before the browser has painted.
  useLayoutEffect(() => {
    held.current = commands;
  });
  useEffect(() => {
    registered.push(held);
    return () => void registered.splice(registered.indexOf(held), 1);
  }, []);
}

export function currentCommands(): Command[] {
  return registered.flatMap((held) => held.current);
}

// keyOf names the key of an event, as commands do.
export function keyOf(event: KeyboardEvent): string {
  const { key } = event;
  if (/^[a-z]$/i.test(key)) return (event.shiftKey ? "shift+" : "") + key.toLowerCase();
  return event.shiftKey && key.startsWith("Arrow") ? "shift+" + key : key;
}

// A key that is a character does nothing when shortcuts are switched off, as speech input
// and stray fingers would trigger it (WCAG 2.1.4).
export const isCharacter = (key: string) => /^(shift\+)?.( .)?$/u.test(key);

// occupied says whether keys belong to what has the focus: a field, or something that is
// open over the page.
export function occupied(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type)) return true;
  return target.closest("[role=dialog], [role=alertdialog], [role=menu], [data-keys=own]") !== null;
}
