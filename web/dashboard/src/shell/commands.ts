import { useEffect, useLayoutEffect, useRef } from "react";

// A Command is an action that runs by a key or from the palette.
export interface Command {
  name: string;
  group: string;
  // Such as "j", "#", "Enter" or "shift+x". "g i" is a sequence of two keys.
  keys?: string[];
  // Leaves it out of the palette.
  unlisted?: boolean;
  // Keys that run it only while when() is true.
  keysWhen?: string[];
  when?(): boolean;
  run(): void;
}

// The commands of the mounted components, in the order of mounting.
const registered: { current: Command[] }[] = [];

// useCommands registers commands while the component is mounted.
export function useCommands(commands: Command[]): void {
  const held = useRef(commands);
  // A layout effect, because the next key may come before the browser paints.
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

// latin returns the key as on a keyboard with Latin letters. Where a layout has another script, the physical key
// decides: о on a Russian layout is j. Latin layouts keep their characters, such as ü, £, and whatever AltGr types.
function latin(event: KeyboardEvent): string {
  const { key, code, shiftKey } = event;
  if (/[\x00-\xff\p{Script=Latin}]/u.test(key) || event.getModifierState("AltGraph")) return key;
  const [, letter, digit] = /^(?:Key(.)|Digit(.))$/.exec(code) ?? [];
  if (letter) return shiftKey ? letter : letter.toLowerCase();
  if (digit) return shiftKey ? ")!@#$%^&*("[Number(digit)]! : digit;
  return code === "Slash" ? (shiftKey ? "?" : "/") : key;
}

// keyOf returns the key of an event in the notation of Command.keys.
export function keyOf(event: KeyboardEvent): string {
  const key = latin(event);
  if (event.ctrlKey || event.metaKey) return `Ctrl+${key.toUpperCase()}`;
  if (/^[a-z]$/i.test(key)) return (event.shiftKey ? "shift+" : "") + key.toLowerCase();
  return event.shiftKey && key.startsWith("Arrow") ? "shift+" + key : key;
}

// isCharacter reports whether a key is a character. Users can switch these shortcuts off,
// because speech input and stray fingers trigger them (WCAG 2.1.4).
export const isCharacter = (key: string) => /^(shift\+)?.( .)?$/u.test(key);

// handlesKeys reports whether the focused element needs the keys itself: a text field, a
// dialog or a menu.
export function handlesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type)) return true;
  return target.closest("[role=dialog], [role=alertdialog], [role=menu], [data-keys=own]") !== null;
}
