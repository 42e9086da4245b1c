import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { call } from "../api/call";
import { appsQuery } from "../api/queries";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { appPages, appQuery } from "./data";

// CreateApp asks for a name, creates the app, and opens its page.
export function CreateApp({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  return (
    <Dialog title="New app" isOpen={isOpen} onClose={onClose}>
      <CreateForm onClose={onClose} />
    </Dialog>
  );
}

function CreateForm({ onClose }: { onClose(): void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const form = useForm(["name"], async () => {
    const { app } = await call("apps-create", { name });
    client.setQueryData(appQuery(app.id).queryKey, app);
    void client.invalidateQueries({ queryKey: appsQuery.queryKey, exact: true });
    void client.invalidateQueries({ queryKey: appPages.queryKey });
    await navigate({ to: "/apps/$id", params: { id: app.id } });
  });
  return (
    <form className="stack" onSubmit={form.onSubmit}>
      {form.error && (
        <p className="field-error" role="alert">
          {form.error}
        </p>
      )}
      <Field
        label="Name"
        hint="The product or website that you collect requests for."
        value={name}
        onChange={setName}
        error={form.errorOf("name")}
        maxLength={100}
        isRequired
        autoFocus
      />
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={form.sending} isDisabled={!name.trim()}>Create app</Button>
      </div>
    </form>
  );
}
