import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { call } from "../api/call";
import type { Template } from "../api/types";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { EditIcon, PlusIcon, TrashIcon } from "../ui/icons";
import { notify, notifyError } from "../ui/notices";
import { Waiting } from "./Section";
import { templatesQuery } from "./templates";

// TemplatesDialog lists the reply templates of the account, and changes them.
export default function TemplatesDialog({ onClose }: { onClose(): void }) {
  const templates = useQuery(templatesQuery);
  const client = useQueryClient();
  const [edited, setEdited] = useState<Template | "new">();
  const read = () => client.invalidateQueries(templatesQuery);
  const none = templates.data?.length === 0;

  async function remove({ id, name, body }: Template) {
    try {
      await call("templates-delete", { id });
      await read();
      const restore = () => call("templates-create", { name, body }).then(read, (error) => notifyError(error));
      notify(`Deleted the template “${name}”.`, { undo: () => void restore() });
    } catch (error) {
      notifyError(error, "Could not delete the template.");
    }
  }

  const form = edited ?? (none ? "new" : undefined);
  return (
    <Dialog title={form === undefined ? "Reply templates" : form === "new" ? "New template" : "Edit template"} isOpen onClose={onClose}>
      {form !== undefined ? (
        <TemplateForm
          key={form === "new" ? form : form.id}
          template={form === "new" ? undefined : form}
          onSaved={() => read().then(() => setEdited(undefined))}
          onCancel={() => (none ? onClose() : setEdited(undefined))}
        />
      ) : (
        <div className="stack">
          <Waiting query={templates} />
          <ul className="lines">
            {templates.data?.map((template) => (
              <li key={template.id} className="line">
                <span className="line-title">{template.name}</span>
                <Button small kind="quiet" icon aria-label={`Edit ${template.name}`} onPress={() => setEdited(template)}>
                  <EditIcon size={16} />
                </Button>
                <Button small kind="quiet" icon aria-label={`Delete ${template.name}`} onPress={() => void remove(template)}>
                  <TrashIcon size={16} />
                </Button>
              </li>
            ))}
          </ul>
          <div className="dialog-actions">
            <Button onPress={() => setEdited("new")}><PlusIcon size={16} />New template</Button>
            <Button kind="primary" onPress={onClose}>Done</Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

interface FormProps {
  template: Template | undefined;
  onSaved(): Promise<void>;
  onCancel(): void;
}

function TemplateForm({ template, onSaved, onCancel }: FormProps) {
  const [name, setName] = useState(template?.name ?? "");
  const [body, setBody] = useState(template?.body ?? "");
  const form = useForm(["name", "body"], async () => {
    await (template ? call("templates-update", { id: template.id, name, body }) : call("templates-create", { name, body }));
    await onSaved();
  }, { name, body });
  return (
    <form className="stack" onSubmit={form.onSubmit}>
      <FormError error={form.error} />
      <Field label="Name" value={name} onChange={setName} error={form.errorOf("name")} maxLength={60} isRequired autoFocus />
      <Field
        label="Text"
        rows={6}
        value={body}
        onChange={setBody}
        error={form.errorOf("body")}
        maxLength={10_000}
        isRequired
        hint="Markdown, as in comments."
      />
      <div className="dialog-actions">
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={form.sending}>Save</Button>
      </div>
    </form>
  );
}
