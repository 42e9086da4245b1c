import { useBlocker } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";

import type { Params } from "../api/call";
import { useSession } from "../api/session";
import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { useAppChange } from "./data";
import { useDraft, type Draft } from "./draft";
import { settingErrors } from "./settingErrors";

type Settings = Params<"apps-update-settings">["settings"];

export interface SettingsForm<T> extends Draft<T> {
  readOnly: boolean;
  saving: boolean;
  saved: boolean;
  errors: Record<string, string>;
  save(also?: Partial<T>): void; // and other values, which are not changes
}

// useSettingsForm edits a part of an app's settings. settings turns the changes into the
// parameter that is sent.
export function useSettingsForm<T extends object>(app: App, saved: T, settings: (changes: Partial<T>) => Settings): SettingsForm<T> {
  const { can } = useSession();
  const draft = useDraft(saved);
  const mutation = useAppChange("apps-update-settings");
  return {
    ...draft,
    readOnly: !can("admin"),
    saving: mutation.isPending,
    saved: mutation.isSuccess && !draft.dirty,
    errors: settingErrors(mutation.error),
    change(part) {
      draft.change(part);
      if (mutation.isError) mutation.reset();
    },
    discard() {
      draft.discard();
      mutation.reset();
    },
    save(also) {
      if (mutation.isPending || !(draft.dirty || also)) return;
      const sent = { ...draft.changes, ...also };
      mutation.mutate({ id: app.id, settings: settings(sent) }, { onSuccess: () => draft.settle(sent) });
    },
  };
}

interface Props<T> {
  form: SettingsForm<T>;
  done?: string; // what it says after it was saved
  children: ReactNode;
}

// SettingsForm is the frame of such a form. It saves or discards changes, and asks before the
// user leaves without saving.
export function SettingsForm<T>({ form, done = "Saved. Your pages update within a minute.", children }: Props<T>) {
  const { dirty, readOnly, saving, saved, errors } = form;
  const end = useRef<HTMLParagraphElement>(null);
  const open = dirty || saving;
  const wasOpen = useRef(open);
  useEffect(() => {
    // The button that was pressed is gone.
    if (wasOpen.current && !open && document.activeElement === document.body) end.current?.focus({ preventScroll: true });
    wasOpen.current = open;
  }, [open]);
  return (
    <form className="settings" onSubmit={(event) => { event.preventDefault(); form.save(); }}>
      {readOnly && <p className="quiet small">Only admins can change this.</p>}
      {children}
      {errors[""] && <p className="field-error" role="alert">{errors[""]}</p>}
      <p ref={end} role="status" className="saved" tabIndex={-1}>{saved && done}</p>
      {dirty && (
        <div className="save-bar" role="region" aria-label="Unsaved changes">
          <span>Unsaved</span>
          <Button onPress={form.discard} isDisabled={saving}>Discard</Button>
          <Button type="submit" kind="primary" isPending={saving}>Save</Button>
        </div>
      )}
      <LeaveDialog dirty={dirty} />
    </form>
  );
}

// LeaveDialog asks before the user leaves without saving.
export function LeaveDialog({ dirty }: { dirty: boolean }) {
  const blocker = useBlocker({ shouldBlockFn: () => dirty, enableBeforeUnload: dirty, withResolver: true });
  return (
    <Dialog title="Leave without saving?" isOpen={blocker.status === "blocked"} onClose={() => blocker.reset?.()}>
      <p>Your changes will be lost.</p>
      <div className="dialog-actions">
        <Button kind="danger" onPress={() => blocker.proceed?.()}>Discard changes</Button>
        <Button kind="primary" onPress={() => blocker.reset?.()} autoFocus>Keep editing</Button>
      </div>
    </Dialog>
  );
}
