import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";

import { currentCommands, isCharacter, keyOf, occupied, useCommands, type Command } from "./commands";
import { currentSettings } from "./settings";

const Palette = lazy(() => import("./Palette"));
const ShortcutsHelp = lazy(() => import("./ShortcutsHelp"));

// How long the second key of a pair such as "g i" is waited for.
const pairMillis = 1_200;

// Shortcuts runs the commands of the page by their keys, and opens the palette and the list
// of all keys.
export function Shortcuts() {
  const [open, setOpen] = useState<"palette" | "help">();
  const navigate = useNavigate();
  const pages = "Go to";
  useCommands([
    { name: "Inbox", group: pages, keys: ["g i"], run: () => void navigate({ to: "/", search: {} }) },
    { name: "Apps", group: pages, keys: ["g a"], run: () => void navigate({ to: "/apps" }) },
    { name: "Insights", group: pages, keys: ["g n"], run: () => void navigate({ to: "/insights" }) },
    { name: "Team", group: pages, keys: ["g t"], run: () => void navigate({ to: "/team" }) },
    { name: "Your account", group: pages, run: () => void navigate({ to: "/account" }) },
    { name: "Keyboard shortcuts", group: "Help", keys: ["?"], run: () => setOpen("help") },
    { name: "Commands", group: "Help", keys: ["Ctrl+K"], bare: true, run: () => setOpen("palette") },
  ]);
  useEffect(() => listen(() => setOpen("palette")), []);
  const close = () => setOpen(undefined);
  return (
    <Suspense>
      {open === "palette" && <Palette onClose={close} />}
      {open === "help" && <ShortcutsHelp onClose={close} />}
    </Suspense>
  );
}

const means = ({ keys, keysWhen, when }: Command, key: string) => keys?.includes(key) || (keysWhen?.includes(key) && when!());

function listen(openPalette: () => void): () => void {
  let first = "";
  let since = 0;
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || occupied(event.target)) return;
    const key = keyOf(event);
    const pair = event.timeStamp - since < pairMillis ? `${first} ${key}` : "";
    const commands = currentCommands();
    const command = commands.findLast((one) => means(one, pair)) ?? commands.findLast((one) => means(one, key));
    const used = command && means(command, pair) ? pair : key;
    [first, since] = [key, used === pair ? 0 : event.timeStamp];
    if (!command || (isCharacter(used) && !currentSettings().shortcuts)) return;
    event.preventDefault();
    command.run();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
