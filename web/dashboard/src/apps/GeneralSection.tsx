import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { call } from "../api/call";
import type { App } from "../api/types";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { count } from "../ui/marks";
import { notify } from "../ui/notices";
import { ConfirmDialog } from "./ConfirmDialog";
import { appQuery, boxesQuery, forgetApp, useAppChange } from "./data";
import { PublicName } from "./PublicName";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

export function GeneralSection({ app }: { app: App }) {
  return (
    <div className="stack">
      <Rename key={app.name} app={app} />
      <PublicNameForm app={app} />
      <h3 className="section-gap">Delete app</h3>
      <Delete app={app} />
    </div>
  );
}

function Rename({ app }: { app: App }) {
  const [name, setName] = useState(app.name);
  const rename = useAppChange("apps-update");
  const form = useForm(["name"], async () => {
    await rename.mutateAsync({ id: app.id, name });
    notify("App renamed.");
  });
  return (
    <form className="stack rename" onSubmit={form.onSubmit}>
      <Field
        label="Name"
        hint="Your team sees this name. Customers see it, too, if the app has no public name."
        value={name}
        onChange={setName}
        error={form.errorOf("name")}
        maxLength={100}
      />
      {form.error && (
        <p className="field-error" role="alert">
          {form.error}
        </p>
      )}
      <div>
        <Button type="submit" isPending={form.sending} isDisabled={!name.trim()}>
          Rename
        </Button>
      </div>
    </form>
  );
}

function PublicNameForm({ app }: { app: App }) {
  const form = useSettingsForm(app, { public_name: app.settings.public_name }, (changes) => changes);
  return (
    <SettingsForm form={form} done="Saved.">
      <div className="rename">
        <PublicName
          app={app}
          value={form.value.public_name}
          onChange={(public_name) => form.change({ public_name })}
          error={form.errors["public_name"]}
          isDisabled={form.readOnly}
        />
      </div>
    </SettingsForm>
  );
}

function Delete({ app }: { app: App }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState(false);
  const boxes = useQuery({ ...boxesQuery(app.id), enabled: asking });
  const { live = 0, quarantine = 0, bin = 0 } = boxes.data ?? {};
  const total = live + quarantine + bin;
  const requests = boxes.data && count(total, "request");

  async function remove() {
    await call("apps-delete", { id: app.id });
    setAsking(false);
    forgetApp(app.id);
    await navigate({ to: "/apps" });
    client.removeQueries({ queryKey: appQuery(app.id).queryKey });
    void client.invalidateQueries();
    notify(`${app.name} deleted.`);
  }

  return (
    <>
      <p className="quiet">Deletes the app with all its requests, votes, comments and files. This cannot be undone.</p>
      <div>
        <Button kind="danger" onPress={() => setAsking(true)}>
          Delete app…
        </Button>
      </div>
      <ConfirmDialog
        title={`Delete ${app.name}?`}
        isOpen={asking}
        onClose={() => setAsking(false)}
        word={app.name}
        action={requests ? `Delete app and ${requests}` : "Delete app and all requests"}
        run={remove}
      >
        <p>
          This permanently deletes {requests ? <b>{requests}</b> : "all requests"}
          {total > live && ` (${live} in the inbox, ${quarantine} in quarantine, ${bin} in the bin)`} with their votes, comments and files.
        </p>
        <p>The widget disappears from your pages, and the API key stops working.</p>
      </ConfirmDialog>
    </>
  );
}
