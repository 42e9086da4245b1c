import { useState, type FormEvent, type KeyboardEvent } from "react";

import { ApiError, call } from "../api/call";
import { queryClient } from "../api/queries";
import type { FeatureRequest } from "../api/types";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { sends } from "../ui/sends";
import { message } from "../ui/states";
import { place } from "./lists";
import { requestQuery, rowOf } from "./rows";

type Text = Pick<FeatureRequest, "title" | "description">;

// base is the request at the start of the edit.
export type Edited = Text & { base: Text & Pick<FeatureRequest, "version"> };

type Props = { request: FeatureRequest; edited: Edited; onChange(next: Edited | undefined): void };

export function TextEditor({ request, edited, onChange }: Props) {
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>();
  const [theirs, setTheirs] = useState<FeatureRequest>();
  const field = error instanceof ApiError ? error.field : undefined;

  async function save(base = edited.base) {
    setSaving(true);
    setError(undefined);
    try {
      const changed: Partial<Text> = {};
      if (edited.title !== base.title) changed.title = edited.title;
      if (edited.description !== base.description) changed.description = edited.description;
      const { request: saved } = await call("requests-update", { id: request.id, ...changed, expected_version: base.version });
      queryClient.setQueryData(requestQuery(request.id).queryKey, saved);
      place([rowOf(saved)], undefined);
      onChange(undefined);
    } catch (caught) {
      if (!(caught instanceof ApiError && caught.code === "requests.version_conflict")) return setError(caught);
      await saveAgain(base);
    } finally {
      setSaving(false);
    }
  }

  // saveAgain handles a conflict. It saves the text if the other change was not about the text.
  async function saveAgain(base: Edited["base"]) {
    try {
      const { request: now } = await call("requests-get", { id: request.id });
      queryClient.setQueryData(requestQuery(request.id).queryKey, now);
      if (now.title === base.title && now.description === base.description) await save(now);
      else setTheirs(now);
    } catch (caught) {
      setError(caught);
    }
  }

  function keep() {
    const base = theirs!;
    setTheirs(undefined);
    onChange({ ...edited, base });
    void save(base);
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!saving) void save();
  }

  function keys(event: KeyboardEvent) {
    if (sends(event)) submit(event);
    if (event.key === "Escape") {
      event.stopPropagation(); // otherwise it closes the request
      if (edited.title === edited.base.title && edited.description === edited.base.description) onChange(undefined);
    }
  }

  return (
    <form className="request-editor" onSubmit={submit} onKeyDown={keys}>
      <Field
        label="Title"
        value={edited.title}
        onChange={(title) => onChange({ ...edited, title })}
        isRequired
        isReadOnly={saving}
        maxLength={200}
        autoFocus
        error={field === "title" ? message(error) : undefined}
      />
      <Field
        label="Description"
        value={edited.description}
        onChange={(description) => onChange({ ...edited, description })}
        rows={6}
        isReadOnly={saving}
        maxLength={10_000}
        error={field === "description" ? message(error) : undefined}
      />
      {error !== undefined && field !== "title" && field !== "description" && (
        <p className="field-error" role="alert">
          {message(error)}
        </p>
      )}
      {theirs && (
        <div className="request-theirs" role="alert">
          <p><strong>Someone else changed this text.</strong> Their version:</p>
          <h3>{theirs.title}</h3>
          <p className="prose">{theirs.description || "No description"}</p>
          <div className="row">
            <Button small onPress={keep}>Keep mine</Button>
            <Button small kind="quiet" onPress={() => onChange(undefined)}>Keep theirs</Button>
          </div>
        </div>
      )}
      {!theirs && (
        <div className="row">
          <Button kind="primary" type="submit" isPending={saving}>Save</Button>
          <Button kind="quiet" onPress={() => onChange(undefined)}>Cancel</Button>
        </div>
      )}
    </form>
  );
}
