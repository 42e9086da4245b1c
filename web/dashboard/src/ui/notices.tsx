import { useEffect, useState, useSyncExternalStore } from "react";

import { Button } from "./Button";
import { CloseIcon, UndoIcon, WarningIcon } from "./icons";
import { message } from "./states";
import "./notices.css";

// Short messages at the foot of the page: the latest of what was done, for ten seconds when
// it can be undone, and errors until they are closed.

interface Notice {
  id: number;
  text: string;
  trouble: boolean;
  undo: (() => void) | undefined;
}

let notices: Notice[] = [];
let next = 1;
const listeners = new Set<() => void>();

function change(to: Notice[]): void {
  notices = to;
  for (const listener of listeners) listener();
}

function add(notice: Omit<Notice, "id">): void {
  change([...notices.filter((other) => other.trouble).slice(-2), { ...notice, id: next++ }]);
}

// notify says that something was done; undo takes it back.
export function notify(text: string, options: { undo?: () => void } = {}): void {
  add({ text, trouble: false, undo: options.undo });
}

// notifyError says that something was not done, and why.
export function notifyError(error: unknown, doing?: string): void {
  add({ text: doing ? `${doing} ${message(error)}` : message(error), trouble: true, undo: undefined });
}

// undoLast undoes what the latest notice is about, if it can be undone.
export function undoLast(): boolean {
  const last = notices.findLast((notice) => notice.undo);
  if (!last) return false;
  close(last.id);
  last.undo?.();
  return true;
}

function close(id: number): void {
  change(notices.filter((notice) => notice.id !== id));
}

export function Notices() {
  const now = useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => notices);
  return (
    <div className="notices" role="region" aria-label="Notices">
      <div role="status" aria-live="polite" aria-relevant="additions">
        {now.map((notice) => <NoticeLine key={notice.id} notice={notice} />)}
      </div>
    </div>
  );
}

function NoticeLine({ notice }: { notice: Notice }) {
  const [held, setHeld] = useState(false); // while the pointer or the focus is there
  useEffect(() => {
    if (held || notice.trouble) return;
    const timer = setTimeout(() => close(notice.id), notice.undo ? 10_000 : 5_000);
    return () => clearTimeout(timer);
  }, [held, notice]);
  return (
    <div
      className={notice.trouble ? "notice notice-trouble" : "notice"}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {notice.trouble && <WarningIcon size={16} />}
      <span>{notice.text}</span>
      {notice.undo && <Button small kind="quiet" onPress={() => { close(notice.id); notice.undo?.(); }}><UndoIcon size={16} />Undo</Button>}
      <Button small kind="quiet" icon aria-label="Close" onPress={() => close(notice.id)}><CloseIcon size={16} /></Button>
    </div>
  );
}
