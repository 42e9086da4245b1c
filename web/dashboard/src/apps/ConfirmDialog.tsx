import { useId, useState, type ReactNode } from "react";

import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";

interface Props {
  title: string;
  isOpen: boolean;
  onClose(): void;
  // The text that the user has to type.
  word: string;
  action: string;
  run(): Promise<unknown>;
  // The consequences.
  children: ReactNode;
}

// ConfirmDialog makes the user type a text before an action that cannot be undone.
export function ConfirmDialog({ title, isOpen, onClose, ...rest }: Props) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <ConfirmForm onClose={onClose} {...rest} />
    </Dialog>
  );
}

function ConfirmForm({ onClose, word, action, run, children }: Omit<Props, "title" | "isOpen">) {
  const [typed, setTyped] = useState("");
  const what = useId();
  const form = useForm([], async () => {
    await run();
    onClose();
  });
  const right = typed.trim() === word.trim();
  return (
    <form className="stack" onSubmit={(event) => (right ? form.onSubmit(event) : event.preventDefault())}>
      <div id={what} className="stack consequences">
        {children}
      </div>
      <Field
        label={`Type “${word}” to confirm`}
        value={typed}
        onChange={setTyped}
        autoComplete="off"
        spellCheck="false"
        aria-describedby={what}
        autoFocus
      />
      {form.error && (
        <p className="field-error" role="alert">
          {form.error}
        </p>
      )}
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="danger" isDisabled={!right} isPending={form.sending}>{action}</Button>
      </div>
    </form>
  );
}
