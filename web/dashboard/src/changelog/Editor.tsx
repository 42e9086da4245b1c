import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent, type KeyboardEvent } from "react";
import { flushSync } from "react-dom";

import { ApiError, call } from "../api/call";
import { useSession } from "../api/session";
import type { App } from "../api/types";
import { useDraft } from "../apps/draft";
import { LeaveDialog } from "../apps/SettingsForm";
import { Markdown } from "../text/Markdown";
import { Button } from "../ui/Button";
import { Switch } from "../ui/choices";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { moment } from "../ui/marks";
import { notify } from "../ui/notices";
import { sends } from "../ui/sends";
import { message } from "../ui/states";
import { DeleteEntry } from "./DeleteEntry";
import { Linked } from "./Linked";
import { Publish } from "./Publish";
import { entryQuery, type Entry } from "./queries";

type Text = Pick<Entry, "title" | "body" | "labels" | "request_ids">;

const blank: Text = { title: "", body: "", labels: [], request_ids: [] };
// The field shows the labels with spaces after the commas.
const textOf = ({ title, body, labels, request_ids }: Entry): Text => ({
  title,
  body,
  labels: labels.map((label, i) => (i > 0 ? " " + label : label)),
  request_ids,
});
const clean = ({ labels, ...text }: Partial<Text>) => ({
  ...text,
  ...(labels && { labels: labels.map((label) => label.trim()).filter(Boolean) }),
});

// What opens on the page of an entry that is being created.
let opensNext: "publish" | undefined;

// Editor edits an entry, or creates one.
export function Editor({ app, entry }: { app: App; entry: Entry | undefined }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const readOnly = !useSession().can("member");
  const draft = useDraft(entry ? textOf(entry) : blank);
  const { value, change } = draft;
  const [error, setError] = useState<unknown>();
  const [theirs, setTheirs] = useState<Entry>();
  const [saving, setSaving] = useState(false);
  const [preview, setPreview] = useState(false);
  const [open, setOpen] = useState<"publish" | "delete" | undefined>(() => (entry ? opensNext : undefined));
  const field = error instanceof ApiError ? error.field : undefined;
  const errorOf = (name: string) => (field === name ? message(error) : undefined);
  const known = ["title", "body", "labels", "request_ids"].includes(field ?? "");

  function show(now: Entry) {
    client.setQueryData(entryQuery(now.id).queryKey, now);
    void client.invalidateQueries({ queryKey: ["entries", "list", app.id] });
    void client.invalidateQueries({ queryKey: ["entries", "audience", now.id] });
  }

  // save returns the stored entry, or undefined if it is not stored.
  async function save(version = entry?.version): Promise<Entry | undefined> {
    const sent = draft.changes;
    setSaving(true);
    setError(undefined);
    try {
      const { entry: saved } = entry
        ? await call("entries-update", { id: entry.id, ...clean(sent), expected_version: version! })
        : await call("entries-create", { app_id: app.id, ...clean(value), title: value.title });
      show(saved);
      flushSync(() => draft.settle(sent)); // before the page is left
      setTheirs(undefined);
      if (!entry) {
        const search = { section: "changelog" as const, entry: saved.id };
        await navigate({ to: "/apps/$id", params: { id: app.id }, search, replace: true });
      }
      notify("Saved.");
      return saved;
    } catch (caught) {
      if (entry && caught instanceof ApiError && caught.code === "entries.version_conflict") return await saveAgain(entry);
      setError(caught);
      return undefined;
    } finally {
      setSaving(false);
    }
  }

  // saveAgain handles a conflict. It saves if somebody else changed other parts only.
  async function saveAgain(base: Entry): Promise<Entry | undefined> {
    try {
      const { entry: now } = await call("entries-get", { id: base.id });
      const both = (Object.keys(draft.changes) as (keyof Text)[]).some((name) => String(now[name]) !== String(base[name]));
      if (!both) return await save(now.version);
      setTheirs(now);
    } catch (caught) {
      setError(caught);
    }
    return undefined;
  }

  function submit(event: FormEvent | KeyboardEvent) {
    event.preventDefault();
    if (saving) return;
    if (draft.dirty) void save();
    else if (entry) notify("Saved.");
  }

  // Publishing publishes what is on the page.
  async function publish() {
    if (!entry) opensNext = "publish";
    if (!draft.dirty || (await save())) setOpen("publish");
    opensNext = undefined;
  }

  return (
    <>
      {entry && <State entry={entry} />}
      <form
        className="stack entry-form"
        onSubmit={submit}
        onKeyDown={(event) => void (sends(event) && submit(event))}
      >
        {readOnly && <p className="quiet small">Only members can change this.</p>}
        <Field
          label="Title"
          value={value.title}
          onChange={(title) => change({ title })}
          error={errorOf("title")}
          maxLength={200}
          isDisabled={readOnly}
          autoFocus={!entry}
        />
        <Field
          label="Text"
          hint="Markdown."
          value={value.body}
          onChange={(body) => change({ body })}
          error={errorOf("body")}
          rows={8}
          maxLength={20_000}
          isDisabled={readOnly}
        />
        <Switch isSelected={preview} onChange={setPreview}>Preview</Switch>
        {preview && (
          <section className="card entry-preview" aria-label="Preview">
            <h3>{value.title || "No title"}</h3>
            <Markdown text={value.body} />
          </section>
        )}
        <Field
          label="Labels"
          hint="Separated by commas, such as New, Fixed."
          value={value.labels.join(",")}
          onChange={(text) => change({ labels: text ? text.split(",") : [] })}
          error={errorOf("labels")}
          isDisabled={readOnly}
        />
        <Linked app={app} ids={value.request_ids} onChange={(request_ids) => change({ request_ids })} isDisabled={readOnly} />
        {errorOf("request_ids") && <p className="field-error" role="alert">{errorOf("request_ids")}</p>}
        <FormError error={error !== undefined && !known ? message(error) : undefined} />
        {theirs && (
          <div className="card stack" role="alert">
            <p><b>Someone else changed this entry.</b> Their version:</p>
            <h4>{theirs.title}</h4>
            <Markdown text={theirs.body} />
            <div className="row">
              <Button onPress={() => void save(theirs.version)}>Keep mine</Button>
              <Button
                onPress={() => {
                  show(theirs);
                  draft.discard();
                  setTheirs(undefined);
                }}
              >
                Keep theirs
              </Button>
            </div>
          </div>
        )}
        {!readOnly && !theirs && (
          <div className="row">
            <Button type="submit" isPending={saving} isDisabled={!value.title.trim()}>
              {entry && entry.state !== "draft" ? "Save" : "Save draft"}
            </Button>
            {entry?.state !== "published" && (
              <Button kind="primary" isDisabled={saving || !value.title.trim()} onPress={() => void publish()}>Publish…</Button>
            )}
            {entry && entry.state !== "draft" && <Unpublish entry={entry} onDone={show} onError={setError} />}
            {entry && <Button kind="danger" onPress={() => setOpen("delete")}>Delete…</Button>}
          </div>
        )}
      </form>
      <LeaveDialog dirty={draft.dirty} />
      {entry && open === "publish" && <Publish entry={entry} onClose={() => setOpen(undefined)} onDone={show} />}
      {entry && open === "delete" && <DeleteEntry entry={entry} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function State({ entry: { state, publish_at, published_at, complete } }: { entry: Entry }) {
  return (
    <p role="status" className="quiet">
      {state === "draft" && "Draft. Only your team sees it."}
      {state === "scheduled" && publish_at && `Will be published ${moment(publish_at)}.`}
      {state === "scheduled" && complete && " Its requests will be completed then."}
      {state === "published" && published_at && `Published ${moment(published_at)}.`}
    </p>
  );
}

interface UnpublishProps {
  entry: Entry;
  onDone(entry: Entry): void;
  onError(error: unknown): void;
}

function Unpublish({ entry: { id, state }, onDone, onError }: UnpublishProps) {
  const [sending, setSending] = useState(false);
  async function unpublish() {
    setSending(true);
    try {
      onDone((await call("entries-unpublish", { id })).entry);
      notify("The entry is a draft again.");
    } catch (error) {
      onError(error);
    } finally {
      setSending(false);
    }
  }
  return (
    <Button isPending={sending} onPress={() => void unpublish()}>{state === "published" ? "Unpublish" : "Do not publish"}</Button>
  );
}
