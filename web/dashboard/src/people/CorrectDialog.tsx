import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { notify } from "../ui/notices";
import { rectify, type Who } from "./data";

interface Props {
  who: Who;
  isOpen: boolean;
  onClose(): void;
  onDone(): void;
}

export function CorrectDialog({ who, isOpen, onClose, onDone }: Props) {
  return (
    <Dialog title="Correct a name or address" isOpen={isOpen} onClose={onClose}>
      <CorrectForm who={who} onClose={onClose} onDone={onDone} />
    </Dialog>
  );
}

function CorrectForm({ who, onClose, onDone }: Omit<Props, "isOpen">) {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const client = useQueryClient();
  const form = useForm(["new_name", "new_email"], async () => {
    await rectify(who, name.trim(), email.trim());
    void client.invalidateQueries({ queryKey: ["requests"] });
    notify("The person was corrected everywhere.");
    onClose();
    onDone();
  });
  return (
    <form className="stack" onSubmit={form.onSubmit}>
      <FormError error={form.error} />
      <Field
        label="New name" value={name} onChange={setName} autoFocus autoComplete="off" maxLength={200} error={form.errorOf("new_name")}
        hint="Replaces the name wherever one is stored."
      />
      <Field
        label="New e-mail" value={email} onChange={setEmail} autoComplete="off" maxLength={254} error={form.errorOf("new_email")}
        hint="Replaces the address. E-mail about their requests ends until they confirm the new one."
      />
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={form.sending}>Correct</Button>
      </div>
    </form>
  );
}
