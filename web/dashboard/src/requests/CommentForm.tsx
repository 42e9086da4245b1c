import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useRef, useState, type FormEvent, type KeyboardEvent, type RefObject } from "react";

import { call, type Params } from "../api/call";
import { usersQuery } from "../api/queries";
import type { FeatureRequest } from "../api/types";
import { useCommands } from "../shell/commands";
import { fromField } from "../text/mentions";
import { Button } from "../ui/Button";
import { HoldKeys } from "../ui/HoldKeys";
import { Segments } from "../ui/Segments";
import { sends } from "../ui/sends";
import { message } from "../ui/states";
import { useDraft } from "./draft";
import { MentionField } from "./MentionField";
import { QuietSwitch, SeenBy } from "./SeenBy";
import { TemplateMenu } from "./TemplateMenu";

const TemplatesDialog = lazy(() => import("./TemplatesDialog"));

type Changed = (more: number) => Promise<void>;
type Visibility = Pick<Params<"comments-create">, "visibility" | "quiet">;

interface Props {
  request: FeatureRequest;
  keys: boolean; // whether keys lead to the field
  onChanged: Changed;
}

// CommentForm writes an internal comment or a public reply. Each has a draft of its own.
export function CommentForm({ request, keys, onChanged }: Props) {
  const internal = useDraft("comment." + request.id);
  const reply = useDraft("reply." + request.id);
  const [open, setOpen] = useState(false); // whether it is public; each comment starts as internal
  const [body, setBody] = open ? reply : internal;
  const [templates, setTemplates] = useState(false); // whether they are edited
  const form = useRef<HTMLFormElement>(null);
  const toBody = useBody();
  const write = (open: boolean) => {
    setOpen(open);
    form.current?.querySelector("textarea")?.focus();
  };
  useCommands(keys ? [
    { name: "Comment", group: "Requests", keys: ["c"], run: () => write(false) },
    { name: "Reply publicly", group: "Requests", keys: ["r"], run: () => write(true) },
  ] : []);
  return (
    <>
      <CommentFields
        request={request} body={body} onBody={setBody} open={open} onOpen={setOpen} label="Comment" form={form}
        onTemplates={() => setTemplates(true)}
        send={async (visibility) => {
          await call("comments-create", { request_id: request.id, body: await toBody(body), ...visibility });
          setBody("");
          setOpen(false);
          await onChanged(1);
        }}
      />
      {/* outside of the form, which would send the reply when a template is saved */}
      {templates && <Suspense fallback={<HoldKeys />}><TemplatesDialog onClose={() => setTemplates(false)} /></Suspense>}
    </>
  );
}

// useBody returns a function that turns the text of a field into the body of a comment. It waits for the
// names of the users, so that no mention is lost.
export function useBody(): (text: string) => Promise<string> {
  const client = useQueryClient();
  return async (text) => (text.includes("@") ? fromField(text, await client.ensureQueryData(usersQuery)) : text);
}

const visibilities = [{ id: "internal", name: "Internal" }, { id: "public", name: "Public" }] as const;

interface Fields {
  request: FeatureRequest;
  label: string;
  body: string;
  onBody(body: string): void;
  open: boolean;
  onOpen(open: boolean): void;
  send(visibility: Visibility): Promise<void>;
  saved?: string; // the text of an existing comment
  form?: RefObject<HTMLFormElement | null>;
  seen?: boolean; // whether it is public already, so that nobody is told
  onTemplates?(): void; // edits them
  onCancel?(): void;
}

export function CommentFields({ request, label, body, onBody, open, onOpen, send, saved, form, seen, onTemplates, onCancel }: Fields) {
  const [quiet, setQuiet] = useState(false);
  const [error, setError] = useState<unknown>();
  const [sending, setSending] = useState(false);

  async function submit(event: FormEvent | KeyboardEvent) {
    event.preventDefault();
    if (sending || !body.trim()) return;
    setSending(true);
    setError(undefined);
    try {
      await send(open ? { visibility: "public", ...(quiet && { quiet }) } : { visibility: "internal" });
      setQuiet(false);
    } catch (caught) {
      setError(caught);
    } finally {
      setSending(false);
    }
  }

  function insert(text: string) {
    onBody(body.trim() ? `${body.trimEnd()}\n\n${text}` : text);
    setTimeout(() => form?.current?.querySelector("textarea")?.focus(), 0); // after the menu has closed
  }

  function keys(event: KeyboardEvent) {
    if (sends(event)) void submit(event);
    if (event.key === "Escape" && onCancel) {
      event.stopPropagation(); // otherwise it closes the request
      if (body === saved) onCancel();
    }
  }

  return (
    <form ref={form} className="comment-form" data-public={open || undefined} onSubmit={(event) => void submit(event)} onKeyDown={keys}>
      <Segments label="Visibility" value={open ? "public" : "internal"} options={visibilities} onChange={(id) => onOpen(id === "public")} />
      <MentionField
        label={label}
        hideLabel
        rows={2}
        value={body}
        onChange={onBody}
        isReadOnly={sending}
        maxLength={10_000}
        autoFocus={!!onCancel}
        placeholder={open ? "Reply publicly…" : "Write an internal comment…"}
        error={error === undefined ? undefined : message(error)}
      />
      <div className="row">
        {open && !seen && <QuietSwitch quiet={quiet} onQuiet={setQuiet} />}
        {open && onTemplates && <TemplateMenu onChoose={insert} onEdit={onTemplates} />}
        <span className="request-bar-gap" />
        {onCancel && (
          <Button small kind="quiet" onPress={onCancel}>
            Cancel
          </Button>
        )}
        <Button small type="submit" kind="primary" isDisabled={!body.trim()} isPending={sending}>
          {onCancel ? "Save" : open ? "Reply publicly" : "Comment"}
        </Button>
      </div>
      {open && <SeenBy target={{ requests: [request] }} comment />}
    </form>
  );
}
