import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { absolute } from "../api/base";
import { call } from "../api/call";
import { appsQuery } from "../api/queries";
import { useSession } from "../api/session";
import type { Token } from "../api/types";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Radios, Select } from "../ui/choices";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { Snippet } from "../ui/Snippet";
import { newNames, scopes, tokensQuery } from "./data";

const lives = [
  { id: "30", name: "30 days" },
  { id: "90", name: "90 days" },
  { id: "365", name: "1 year" },
];
const day = 86_400_000; // milliseconds
const allApps = { id: "all", name: "All apps" };

// NewToken creates a token, and shows its secret until the user closes the dialog with its button.
export function NewToken({ kind, onClose }: { kind: Token["kind"]; onClose(): void }) {
  const { can } = useSession();
  const { data: apps = [] } = useQuery(appsQuery);
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Token["scope"]>("viewer");
  const [app, setApp] = useState(allApps.id);
  const [life, setLife] = useState("90");
  const [secret, setSecret] = useState("");
  const form = useForm(["name", "scope", "expires_at"], async () => {
    const { secret } = await call("tokens-create", {
      name,
      kind,
      scope,
      ...(app !== allApps.id && { app_id: app }),
      expires_at: new Date(Date.now() + Number(life) * day).toISOString(),
    });
    setSecret(secret);
    void client.invalidateQueries(tokensQuery);
  }, { name });
  const close = () => form.sending || onClose(); // otherwise the secret would get lost
  return (
    <Dialog title={secret ? "Token created" : newNames[kind]} isOpen required={!!secret} onClose={close}>
      {secret ? (
        <Secret secret={secret} onDone={onClose} />
      ) : (
        <form className="stack" onSubmit={form.onSubmit}>
          <FormError error={form.error} />
          <Field
            label="Name"
            value={name}
            onChange={setName}
            isRequired
            autoFocus
            autoComplete="off"
            error={form.errorOf("name")}
            hint="For example, Weekly report."
          />
          <Radios<Token["scope"]>
            label="Access"
            value={scope}
            options={scopes.filter(({ id }) => can(id))}
            onChange={setScope}
            error={form.errorOf("scope")}
          />
          <Select label="App" value={app} options={[allApps, ...apps]} onChange={setApp} />
          <div className="token-lives">
            <Radios label="Expires after" value={life} options={lives} onChange={setLife} error={form.errorOf("expires_at")} />
          </div>
          <div className="dialog-actions">
            <Button onPress={close}>Cancel</Button>
            <Button type="submit" kind="primary" isPending={form.sending}>Create token</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

function Secret({ secret, onDone }: { secret: string; onDone(): void }) {
  const text = useRef<HTMLParagraphElement>(null);
  useEffect(() => text.current?.focus(), []); // the form had the focus
  const example = `curl ${absolute("api/requests-list")} -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{}'`;
  return (
    <>
      <p ref={text} tabIndex={-1}>Copy it now. Gatherkit does not show it again.</p>
      <Snippet label="token" code={secret} />
      <p>To try it, list your requests:</p>
      <Snippet label="example" code={example} />
      <div className="dialog-actions">
        <Button kind="primary" onPress={onDone}>Done</Button>
      </div>
    </>
  );
}
