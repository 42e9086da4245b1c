import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { call } from "../api/call";
import { appsQuery } from "../api/queries";
import type { App, FeatureRequest } from "../api/types";
import { useForm } from "../pages/useForm";
import { useDraft } from "../requests/draft";
import { Button } from "../ui/Button";
import { Select } from "../ui/choices";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { sends } from "../ui/sends";

interface Props {
  app: string | undefined; // the app of the filter
  onClose(): void;
  onCreated(request: FeatureRequest): void;
}

// NewRequest records a request that came another way, such as in a call.
export default function NewRequest(props: Props) {
  const { data: apps } = useQuery(appsQuery);
  return (
    <Dialog title="New request" isOpen onClose={props.onClose} wide>
      {apps?.[0] ? (
        <Form {...props} apps={apps} first={apps[0].id} />
      ) : (
        <p className="quiet">Every request belongs to an app. Create an app first.</p>
      )}
    </Dialog>
  );
}

function Form({ apps, first, app, onClose, onCreated }: Props & { apps: App[]; first: string }) {
  const [appID, setAppID] = useState(app ?? first);
  const [title, setTitle] = useDraft("new.title");
  const [description, setDescription] = useDraft("new.description");
  const [name, setName] = useDraft("new.name");
  const [email, setEmail] = useDraft("new.email");
  const form = useForm(
    ["title", "description", "submitter"],
    async () => {
      const submitter = { ...(name.trim() && { name: name.trim() }), ...(email.trim() && { email: email.trim() }) };
      const { request } = await call("requests-create", {
        app_id: appID,
        title,
        ...(description && { description }),
        ...(Object.keys(submitter).length > 0 && { submitter }),
      });
      forget();
      onCreated(request);
    },
    { title },
  );
  function forget() {
    setTitle("");
    setDescription("");
    setName("");
    setEmail("");
  }
  return (
    <form
      className="stack"
      noValidate
      onSubmit={form.onSubmit}
      onKeyDown={(event) => void (sends(event) && event.currentTarget.requestSubmit())}
    >
      {apps.length > 1 && <Select label="App" value={appID} options={apps} onChange={setAppID} />}
      <Field label="Title" value={title} onChange={setTitle} error={form.errorOf("title")} maxLength={200} isRequired autoFocus />
      <Field
        label="Description"
        value={description}
        onChange={setDescription}
        error={form.errorOf("description")}
        maxLength={10_000}
        rows={5}
      />
      <div className="new-person">
        <Field label="On behalf of" hint="Adds their vote." value={name} onChange={setName} maxLength={200} autoComplete="off" />
        <Field
          label="Submitter e-mail"
          type="email"
          value={email}
          onChange={setEmail}
          error={form.errorOf("submitter")}
          maxLength={254}
          autoComplete="off"
        />
      </div>
      {form.error && <p className="field-error" role="alert">{form.error}</p>}
      <div className="dialog-actions">
        <Button onPress={() => { forget(); onClose(); }}>Cancel</Button>
        <Button kind="primary" type="submit" isPending={form.sending}>Create request</Button>
      </div>
    </form>
  );
}
