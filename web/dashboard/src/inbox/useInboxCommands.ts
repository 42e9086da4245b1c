import { useSession } from "../api/session";
import { statusNames, type Box, type Status } from "../api/types";
import { useChanges } from "../requests/changes";
import { useRequestLink } from "../requests/link";
import { usePicker, type PickerKind } from "../requests/picker";
import { useStatusName } from "../requests/statuses";
import type { Target } from "../requests/target";
import { useCommands, type Command } from "../shell/commands";
import { copyText } from "../ui/copyText";
import { notify } from "../ui/notices";
import { boxNames, cleared, hiddenNames, sortNames, sortOf, sortsOf, type Change, type Search } from "./search";
import { edited, opening, resetting, type Place } from "./views";

interface Moves {
  search: Search;
  target: Target | undefined;
  onList(): boolean; // whether the list handles the keys
  canClose: boolean;
  move(by: number): void;
  toEnd(): void;
  range(by: number): void;
  open(): void;
  select(range: boolean): void;
  selectAll(): void;
  close(): void;
  undo(): void;
  find(): void;
  toggleFilters(): void;
  create(): void;
  uncopied(link: string): void;
  change(change: Change): void;
  place: Place;
  places: Place[];
}

const pickers: [PickerKind, string, string][] = [
  ["status", "Set status", "s"],
  ["tags", "Set tags", "t"],
  ["assignee", "Assign", "a"],
  ["eta", "Set ETA", "e"],
  ["merge", "Merge into another request", "m"],
];

// useInboxCommands registers the commands of the inbox.
export function useInboxCommands(moves: Moves): void {
  const member = useSession().can("member");
  const changes = useChanges();
  const pick = usePicker();
  const { search, target, onList } = moves;
  const box: Box = search.box ?? "live";
  const link = useRequestLink(box);
  const on = (run: (requests: Target) => void) => () => target && run(target);

  const list: Command[] = [
    { name: "Next request", keys: ["j"], keysWhen: ["ArrowDown"], run: () => moves.move(1) },
    { name: "Previous request", keys: ["k"], keysWhen: ["ArrowUp"], run: () => moves.move(-1) },
    { name: "Down 10 requests", keysWhen: ["PageDown"], run: () => moves.move(10) },
    { name: "Up 10 requests", keysWhen: ["PageUp"], run: () => moves.move(-10) },
    { name: "First request", keysWhen: ["Home"], run: () => moves.move(-Infinity) },
    { name: "Last request", keysWhen: ["End"], run: moves.toEnd },
    { name: "Open request", keysWhen: ["Enter"], run: moves.open },
    { name: "Close request or clear selection", keysWhen: ["Escape"], when: () => moves.canClose, run: moves.close },
    { name: "Search", keys: ["/"], run: moves.find },
    { name: "Show or hide filters", keys: ["f"], run: moves.toggleFilters },
  ].map((command) => ({ when: onList, ...command, group: "List", unlisted: true }));
  const choose: Command[] = [
    { name: "Select request", keys: ["x"], keysWhen: [" "], run: () => moves.select(false) },
    { name: "Extend selection to here", keys: ["shift+x"], run: () => moves.select(true) },
    { name: "Extend selection down", keysWhen: ["shift+ArrowDown"], run: () => moves.range(1) },
    { name: "Extend selection up", keysWhen: ["shift+ArrowUp"], run: () => moves.range(-1) },
  ].map((command) => ({ when: onList, ...command, group: "List", unlisted: true }));
  const group = "Requests";
  const edit: Command[] =
    box === "live" ? pickers.map(([kind, name, key]) => ({ name, group, keys: [key], run: on((target) => pick(kind, target)) })) : [];
  if (box === "live") {
    edit.push({ name: "Hide", group, keys: ["h"], run: on((target) => changes.update(target, { hidden: true })) });
    edit.push({ name: "Unhide", group, keys: ["shift+h"], run: on((target) => changes.update(target, { hidden: false })) });
    edit.push({ name: "Repeat the last change", group, keys: ["."], run: on(changes.repeat) });
  }
  const moving: Record<Box, Command[]> = {
    live: [{ name: "Delete", group, keys: ["#", "Delete"], run: on(changes.remove) }],
    bin: [{ name: "Restore", group, keys: ["r"], run: on(changes.restore) }],
    quarantine: [
      { name: "Release from quarantine", group, keys: ["r"], run: on(changes.release) },
      { name: "Block as spam", group, keys: ["#", "Delete"], run: on(changes.block) },
    ],
  };
  const ranked = sortOf(search) === "relevance";
  const work: Command[] = [
    { name: "Undo", group, keys: ["u"], run: moves.undo },
    { name: "New request", group, keys: ["n"], run: moves.create },
    ...(ranked ? [] : [{ name: "Select all matching requests", group, keysWhen: ["Ctrl+A"], when: onList, run: moves.selectAll }]),
  ];
  useCommands([
    ...list,
    { name: "Copy link", group, keys: ["l"], run: on((target) => void copyLink(target, link, moves.uncopied)) },
    ...(member ? [...choose, ...edit, ...moving[box], ...work] : []),
    ...filters(moves, useSession().user.id, useStatusName()),
  ]);
}

async function copyLink(target: Target, link: (id: string) => string, uncopied: Moves["uncopied"]): Promise<void> {
  const [first, ...others] = "requests" in target ? target.requests : [];
  if (!first || others.length) return notify("Select one request to copy its link.");
  await copyText(link(first.id)).then(() => notify("Link copied."), () => uncopied(link(first.id)));
}

// The commands that filter and sort the list.
function filters({ search, place, places, change }: Moves, me: string, nameOf: ReturnType<typeof useStatusName>): Command[] {
  const show = "Show";
  return [
    ...places.map((one) => ({ name: one.name, group: show, run: () => change({ ...resetting(one), ...opening(one) }) })),
    ...(["quarantine", "bin"] as const).map((box) => ({
      name: boxNames[box],
      group: show,
      run: () => change({ ...cleared, view: "all", box }),
    })),
    { name: "Assigned to me", group: show, run: () => change({ assignee: me }) },
    { name: "Unassigned", group: show, run: () => change({ assignee: "none" }) },
    { name: hiddenNames.true, group: show, run: () => change({ hidden: true }) },
    ...(Object.keys(statusNames) as Status[]).map((status) => ({
      name: `Status ${nameOf(status, search.app)}`,
      group: show,
      run: () => change({ status: [status] }),
    })),
    ...sortsOf(search).map((sort) => ({ name: sortNames[sort], group: "Sort", run: () => change({ sort }) })),
    ...(edited(search, place) ? [{ name: "Clear filters", group: show, run: () => change(resetting(place)) }] : []),
  ];
}
