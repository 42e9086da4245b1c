import { useState } from "react";

import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import type { NewVote } from "./details";

export function AddVote({ isOpen, onClose, onAdd }: { isOpen: boolean; onClose(): void; onAdd(vote: NewVote): Promise<void> }) {
  return (
    <Dialog title="Add vote" isOpen={isOpen} onClose={onClose}>
      <VoteForm onClose={onClose} onAdd={onAdd} />
    </Dialog>
  );
}

function VoteForm({ onClose, onAdd }: { onClose(): void; onAdd(vote: NewVote): Promise<void> }) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [why, setWhy] = useState("");
  const form = useForm(["email", "name", "why"], async () => {
    await onAdd({ ...(email.trim() && { email }), ...(name.trim() && { name }), ...(why.trim() && { why }) });
    onClose();
  });
  return (
    <form className="stack" onSubmit={form.onSubmit}>
      <p className="quiet">For someone who asked for this elsewhere, such as in an e-mail or a call. Each person counts once.</p>
      <Field label="E-mail" value={email} onChange={setEmail} inputMode="email" maxLength={254} autoFocus error={form.errorOf("email")} />
      <Field
        label="Name"
        value={name}
        onChange={setName}
        maxLength={200}
        hint="If you do not know the e-mail, a name is enough."
        error={form.errorOf("name")}
      />
      <Field
        label="Why (optional)"
        value={why}
        onChange={setWhy}
        rows={3}
        maxLength={500}
        hint="In their words. Only your team reads it."
        error={form.errorOf("why")}
      />
      {form.error && (
        <p className="field-error" role="alert">
          {form.error}
        </p>
      )}
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" isPending={form.sending}>Add vote</Button>
      </div>
    </form>
  );
}
