import { useState } from "react";

import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import type { Person } from "./details";

export function AddVote({ isOpen, onClose, onAdd }: { isOpen: boolean; onClose(): void; onAdd(person: Person): Promise<void> }) {
  return (
    <Dialog title="Add vote" isOpen={isOpen} onClose={onClose}>
      <VoteForm onClose={onClose} onAdd={onAdd} />
    </Dialog>
  );
}

function VoteForm({ onClose, onAdd }: { onClose(): void; onAdd(person: Person): Promise<void> }) {
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const form = useForm(["email", "name"], async () => {
    await onAdd({ ...(email.trim() && { email }), ...(name.trim() && { name }) });
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
