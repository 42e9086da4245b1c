import { useState, type FormEvent } from "react";

import { ApiError } from "../api/call";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { message } from "../ui/states";
import type { Person } from "./Voters";

export function AddVote({ isOpen, onClose, onAdd }: { isOpen: boolean; onClose(): void; onAdd(person: Person): Promise<void> }) {
  return (
    <Dialog title="Add a vote" isOpen={isOpen} onClose={onClose}>
      <VoteForm onClose={onClose} onAdd={onAdd} />
    </Dialog>
  );
}

function VoteForm({ onClose, onAdd }: { onClose(): void; onAdd(person: Person): Promise<void> }) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [error, setError] = useState<unknown>();
  const [sending, setSending] = useState(false);
  const field = error instanceof ApiError ? error.field : undefined;

  async function submit(event: FormEvent) {
    event.preventDefault();
    setSending(true);
    try {
      await onAdd({ ...(email.trim() && { email }), ...(name.trim() && { name }) });
      onClose();
    } catch (caught) {
      setError(caught);
    } finally {
      setSending(false);
    }
  }

  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <p className="quiet">For somebody who asked for it elsewhere, in a mail or a call. Each person counts once.</p>
      <Field label="E-mail" value={email} onChange={setEmail} inputMode="email" maxLength={254} autoFocus error={field === "email" ? message(error) : undefined} />
      <Field label="Name" value={name} onChange={setName} maxLength={200} hint="Enough where the e-mail is not known." error={field === "name" ? message(error) : undefined} />
      {error !== undefined && field !== "email" && field !== "name" && <p className="field-error" role="alert">{message(error)}</p>}
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" isPending={sending}>Add the vote</Button>
      </div>
    </form>
  );
}
