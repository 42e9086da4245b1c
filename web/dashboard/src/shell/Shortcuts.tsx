import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";

import { HoldKeys } from "../ui/HoldKeys";
import { printPage } from "../ui/printing";
import { currentCommands, handlesKeys, isCharacter, keyOf, useCommands, type Command } from "./commands";
import { currentSettings } from "./settings";

// Fetched before they are wanted, so that they open without delay.
const palette = () => import("./Palette");
const help = () => import("./ShortcutsHelp");
const Palette = lazy(palette);
const ShortcutsHelp = lazy(help);

const selectAll = "Ctrl+A";
const print = "Ctrl+P";

// How long to wait for the second key of a sequence such as "g i".
const sequenceMillis = 1_200;

// Shortcuts runs commands when their keys are pressed. It also shows the palette and the list
// of shortcuts.
export function Shortcuts() {
  const [open, setOpen] = useState<"palette" | "help">();
  const navigate = useNavigate();
  const pages = "Go to";
  useCommands([
    { name: "Inbox", group: pages, keys: ["g i"], run: () => void navigate({ to: "/", search: {} }) },
    { name: "Mentions", group: pages, keys: ["g m"], run: () => void navigate({ to: "/mentions" }) },
    { name: "Apps", group: pages, keys: ["g a"], run: () => void navigate({ to: "/apps" }) },
    { name: "Insights", group: pages, keys: ["g n"], run: () => void navigate({ to: "/insights" }) },
    { name: "Team", group: pages, keys: ["g t"], run: () => void navigate({ to: "/team" }) },
    { name: "Your account", group: pages, run: () => void navigate({ to: "/account" }) },
    { name: "Print", group: "Page", keys: [print], run: () => void printPage() },
    { name: "Keyboard shortcuts", group: "Help", keys: ["?"], run: () => setOpen("help") },
    { name: "Command palette", group: "Help", keys: ["Ctrl+K"], unlisted: true, run: () => setOpen("palette") },
  ]);
  useEffect(() => {
    void palette();
    void help();
    return listen(() => setOpen("palette"));
  }, []);
  const close = () => setOpen(undefined);
  return (
    <Suspense fallback={<HoldKeys />}>
      {open === "palette" && <Palette onClose={close} />}
      {open === "help" && <ShortcutsHelp onClose={close} />}
    </Suspense>
  );
}

const hasKey = ({ keys, keysWhen, when }: Command, key: string) => keys?.includes(key) || (keysWhen?.includes(key) && when!());

function listen(openPalette: () => void): () => void {
  let first = "";
  let since = 0;
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && keyOf(event) === "Ctrl+K") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.altKey || handlesKeys(event.target)) return;
    const key = keyOf(event);
    if ((event.ctrlKey || event.metaKey) && key !== selectAll && key !== print) return;
    const sequence = event.timeStamp - since < sequenceMillis ? `${first} ${key}` : "";
    const commands = currentCommands();
    const command = commands.findLast((one) => hasKey(one, sequence)) ?? commands.findLast((one) => hasKey(one, key));
    const used = command && hasKey(command, sequence) ? sequence : key;
    [first, since] = [key, used === sequence ? 0 : event.timeStamp];
    if (!command || (isCharacter(used) && !currentSettings().shortcuts)) return;
    event.preventDefault();
    command.run();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
