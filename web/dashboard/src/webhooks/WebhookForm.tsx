import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";

import { ApiError, call } from "../api/call";
import { appsQuery } from "../api/queries";
import type { Webhook } from "../api/types";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Choice, Radios, Select, Switch } from "../ui/choices";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { CheckIcon, WarningIcon } from "../ui/icons";
import { put } from "./data";
import { formatOf, formats } from "./format";
import { areas, kindName } from "./kinds";

const allApps = { id: "all", name: "All apps" };

interface Props {
  // The webhook to edit; a new one without it.
  webhook?: Webhook;
  onClose(): void;
  onSaved(webhook: Webhook): void;
}

export function WebhookForm({ webhook, onClose, onSaved }: Props) {
  const { data: apps = [] } = useQuery(appsQuery);
  const [format, setFormat] = useState<Webhook["format"]>(webhook?.format ?? "events");
  const [name, setName] = useState(webhook?.name ?? "");
  const [url, setURL] = useState(webhook?.url ?? "");
  const [app, setApp] = useState(webhook?.app_id ?? allApps.id);
  const [internal, setInternal] = useState(webhook?.internal ?? false);
  const [some, setSome] = useState(!!webhook?.kinds.length); // only some kinds
  const [kinds, setKinds] = useState(webhook?.kinds ?? []);
  const element = useRef<HTMLFormElement>(null);
  const form = useForm(["name", "url", "kinds", "app_id"], async () => {
    const fields = { name, url: url.trim(), app_id: app === allApps.id ? null : app, kinds: some ? kinds : [], internal };
    try {
      const { app_id, ...others } = fields;
      const saved = webhook
        ? await call("webhooks-update", { id: webhook.id, ...fields })
        : await call("webhooks-create", { ...others, format, ...(app_id && { app_id }) });
      await put(saved.webhook);
      onSaved(saved.webhook);
    } catch (error) {
      throw error instanceof ApiError && error.code === "apps.not_found" ? new ApiError("apps.invalid_app_id", error.message, 404) : error;
    }
  }, { name, url, kinds: some ? kinds.join() : "all" });
  const { sending } = form;
  useEffect(() => {
    // The form is long, and the field with the error may be out of sight.
    if (!sending) element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [sending]);
  const close = () => sending || onClose();
  const kindsError = form.errorOf("kinds");
  return (
    <Dialog title={webhook ? "Edit webhook" : "New webhook"} isOpen wide onClose={close}>
      <form ref={element} className="stack" onSubmit={form.onSubmit}>
        {!webhook && (
          <div className="hook-formats">
            <Radios<Webhook["format"]> label="Format" value={format} options={formats} onChange={setFormat} />
          </div>
        )}
        <Field
          label="Name"
          value={name}
          onChange={setName}
          isRequired
          autoComplete="off"
          error={form.errorOf("name")}
          hint="For example, Product channel."
        />
        <Field
          label={formatOf(format).url}
          value={url}
          onChange={setURL}
          isRequired
          autoComplete="off"
          inputMode="url"
          spellCheck="false"
          error={form.errorOf("url")}
          hint={formatOf(format).urlHint}
        />
        <div>
          <Select label="App" value={app} options={[allApps, ...apps]} onChange={setApp} />
          {form.errorOf("app_id") && <p className="field-error" role="alert">{form.errorOf("app_id")}</p>}
        </div>
        <div>
          <Switch
            isSelected={internal}
            onChange={setInternal}
            hint="Internal comments, links to issues, spam in quarantine, and changes to your team and settings."
          >
            Include internal events
          </Switch>
          <p role="status" className="hook-warning">
            {internal && format !== "events" && <><WarningIcon size={16} />Everyone in the chat can read them.</>}
          </p>
        </div>
        <Radios
          label="Send"
          value={some ? "some" : "all"}
          options={[{ id: "all", name: "Everything" }, { id: "some", name: "Only what I choose" }]}
          onChange={(value) => setSome(value === "some")}
        />
        {some && <Kinds chosen={kinds} internal={internal} invalid={!!kindsError} onChange={setKinds} />}
        {kindsError && <p className="field-error" role="alert">{kinds.length ? kindsError : "Choose at least one."}</p>}
        <FormError error={form.error} />
        <div className="dialog-actions">
          <Button onPress={close}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={sending}>{webhook ? "Save" : "Create webhook"}</Button>
        </div>
      </form>
    </Dialog>
  );
}

interface KindsProps {
  chosen: string[];
  internal: boolean;
  invalid: boolean;
  onChange(chosen: string[]): void;
}

function Kinds({ chosen, internal, invalid, onChange }: KindsProps) {
  const id = useId();
  const [others] = useState(() => chosen.filter((kind) => kindName(kind) === kind)); // a program has set them
  const shown = [
    ...areas.filter((area) => internal || !area.internal || area.kinds.some(({ id }) => chosen.includes(id))),
    ...(others.length ? [{ name: "Others", kinds: others.map((kind) => ({ id: kind, name: kind })) }] : []),
  ];
  return (
    <div className="hook-kinds">
      {shown.map(({ name, kinds }) => (
        <div key={name} role="group" aria-labelledby={id + name}>
          <span id={id + name} className="field-label">{name}</span>
          {kinds.map((kind) => (
            <Choice
              key={kind.id}
              type="checkbox"
              checked={chosen.includes(kind.id)}
              aria-invalid={invalid}
              onChange={(now) => onChange(now ? [...chosen, kind.id] : chosen.filter((other) => other !== kind.id))}
            >
              <span className="check-box"><CheckIcon size={14} /></span>{kind.name}
            </Choice>
          ))}
        </div>
      ))}
    </div>
  );
}
