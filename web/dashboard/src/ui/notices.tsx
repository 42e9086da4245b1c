import { useEffect, useState, useSyncExternalStore, type ReactNode } from "react";

import { Button } from "./Button";
import { CloseIcon, UndoIcon, WarningIcon } from "./icons";
import { message } from "./states";
import "./notices.css";

// Notices appear at the bottom of the page: the latest confirmation for a few seconds, longer
// if the action can be undone, and errors until they are closed.

interface Notice {
  id: number;
  text: string;
  isError: boolean;
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
  change([...notices.filter((other) => other.isError), { ...notice, id: next++ }]);
}

// notify confirms an action. undo reverts it.
export function notify(text: string, options: { undo?: () => void } = {}): void {
  add({ text, isError: false, undo: options.undo });
}

// notifyError reports an error. what says what failed, such as "Could not remove the vote."
export function notifyError(error: unknown, what?: string): void {
  add({ text: what ? `${what} ${message(error)}` : message(error), isError: true, undo: undefined });
}

// undoLast runs the undo of the latest notice that has one, and reports whether there is one.
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

export function clearNotices(): void {
  change([]);
}

// Notices shows the notices above its children, which stay.
export function Notices({ children }: { children: ReactNode }) {
  const now = useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => notices);
  return (
    <div className="notices" role="region" aria-label="Notifications">
      <div role="status" aria-live="polite" aria-relevant="additions">
        {now.map((notice) => <NoticeLine key={notice.id} notice={notice} />)}
      </div>
      {children}
    </div>
  );
}

function NoticeLine({ notice }: { notice: Notice }) {
  const [paused, setPaused] = useState(false); // while it has the pointer or the focus
  useEffect(() => {
    if (paused || notice.isError) return;
    const timer = setTimeout(() => close(notice.id), notice.undo ? 10_000 : 5_000);
    return () => clearTimeout(timer);
  }, [paused, notice]);
  return (
    <div
      className={notice.isError ? "notice notice-error" : "notice"}
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      {notice.isError && <WarningIcon size={16} />}
      <span>{notice.text}</span>
      {notice.undo && <Button small kind="quiet" onPress={() => { close(notice.id); notice.undo?.(); }}><UndoIcon size={16} />Undo</Button>}
      <Button small kind="quiet" icon aria-label="Dismiss" onPress={() => close(notice.id)}><CloseIcon size={16} /></Button>
    </div>
  );
}
