import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ApiError, call } from "../api/call";
import { usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import type { Role } from "../api/types";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Radios, Switch } from "../ui/choices";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import type { PersonalLink } from "./LinkDialog";
import { rolesToGive } from "./roles";

interface Props {
  isOpen: boolean;
  onClose(): void;
  onLink(link: PersonalLink): void;
}

export function InviteDialog({ isOpen, onClose, onLink }: Props) {
  return (
    <Dialog title="Invite someone" isOpen={isOpen} onClose={onClose}>
      <InviteForm
        onCancel={onClose}
        onLink={(link) => {
          onClose();
          onLink(link);
        }}
      />
    </Dialog>
  );
}

function InviteForm({ onCancel, onLink }: { onCancel(): void; onLink(link: PersonalLink): void }) {
  const { role: mine, mail } = useSession();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [send, setSend] = useState(mail);
  const client = useQueryClient();
  const form = useForm(["name", "email", "role"], async () => {
    const { user, link, expires_at, sent } = await call("users-invite", { name, email: email.trim(), role, send }).catch(atField);
    void client.invalidateQueries(usersQuery);
    onLink({ purpose: "invitation", name: user.name, link, expiresAt: expires_at, sentTo: sent ? user.email : undefined });
  }, { name, email });
  return (
    <form className="stack" onSubmit={form.onSubmit}>
      <FormError error={form.error} />
      <Field label="Name" value={name} onChange={setName} isRequired autoFocus autoComplete="off" error={form.errorOf("name")} />
      <Field
        label="E-mail"
        type="email"
        value={email}
        onChange={setEmail}
        isRequired
        autoComplete="off"
        error={form.errorOf("email")}
        hint="Used to log in."
      />
      <Radios<Role> label="Role" value={role} options={rolesToGive(mine)} onChange={setRole} error={form.errorOf("role")} />
      {mail && <Switch isSelected={send} onChange={setSend}>Also send the link by e-mail</Switch>}
      <div className="dialog-actions">
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={form.sending}>Create link</Button>
      </div>
    </form>
  );
}

function atField(error: unknown): never {
  if (error instanceof ApiError && error.code === "users.email_taken") {
    throw new ApiError("users.invalid_email", error.message, error.status);
  }
  throw error;
}
