import { useLayoutEffect, useRef, type ReactNode } from "react";

import type { Box } from "../api/types";
import { useChanges } from "../requests/changes";
import { usePicker, type PickerKind } from "../requests/picker";
import { shared, type Target } from "../requests/target";
import { Button } from "../ui/Button";
import {
  CalendarIcon, CheckIcon, CloseIcon, HiddenIcon, MergeIcon, PersonIcon, ShieldIcon, TagIcon, TrashIcon, UndoIcon,
} from "../ui/icons";
import { number } from "../ui/marks";
import "./bulkbar.css";

interface Props {
  target: Target;
  selected: number;
  box: Box;
  total: number;
  exact: boolean;
  all: boolean; // whether all that match the filter are selected
  onAll: (() => void) | undefined; // undefined if a filter cannot select the same requests
  onClear(): void;
  onLeave(): void; // when the bar disappears while it has the focus
}

export function BulkBar({ target, selected, box, total, exact, all, onAll, onClear, onLeave }: Props) {
  const bar = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => () => {
    if (bar.current?.contains(document.activeElement)) onLeave();
  }, []);
  const { update, remove, restore, release, block } = useChanges();
  const hidden = "matching" in target ? target.matching.hidden : shared(target, (one) => one.hidden);
  const pick = usePicker();
  const picker = (kind: PickerKind, name: string, icon: ReactNode) => (
    <Button key={kind} small kind="quiet" data-picker={kind} aria-label={name} onPress={() => pick(kind, target)}>
      {icon}
      <span className="bulk-words">{name}</span>
    </Button>
  );
  return (
    <div ref={bar} className="bulk" role="toolbar" aria-label="Selected requests">
      <Button small kind="quiet" icon aria-label="Clear selection" onPress={onClear}><CloseIcon size={16} /></Button>
      <span className="bulk-count" role="status">{all && !exact && "At least "}{number(selected)} selected</span>
      {box === "live" && (
        <>
          {picker("status", "Status", <CheckIcon size={16} />)}
          {picker("tags", "Tags", <TagIcon size={16} />)}
          {picker("assignee", "Assignee", <PersonIcon size={16} />)}
          {picker("eta", "ETA", <CalendarIcon size={16} />)}
          <Button small kind="quiet" aria-label={hidden ? "Unhide" : "Hide"} onPress={() => void update(target, { hidden: !hidden })}>
            <HiddenIcon size={16} />
            <span className="bulk-words">{hidden ? "Unhide" : "Hide"}</span>
          </Button>
          {!all && picker("merge", "Merge", <MergeIcon size={16} />)}
          <Button small kind="quiet" aria-label="Delete" onPress={() => void remove(target)}>
            <TrashIcon size={16} />
            <span className="bulk-words">Delete</span>
          </Button>
        </>
      )}
      {box === "bin" && <Button small kind="quiet" onPress={() => void restore(target)}><UndoIcon size={16} />Restore</Button>}
      {box === "quarantine" && (
        <>
          <Button small kind="quiet" onPress={() => void release(target)}><CheckIcon size={16} />Release</Button>
          <Button small kind="quiet" onPress={() => void block(target)}><ShieldIcon size={16} />Block</Button>
        </>
      )}
      {onAll && !all && total > selected && <Button small onPress={onAll}>Select all {exact ? number(total) : "matching"}</Button>}
    </div>
  );
}
