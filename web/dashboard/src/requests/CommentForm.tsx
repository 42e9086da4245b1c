import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent, type KeyboardEvent } from "react";

import { call, type Params } from "../api/call";
import { usersQuery } from "../api/queries";
import type { FeatureRequest } from "../api/types";
import { fromField } from "../text/mentions";
import { Button } from "../ui/Button";
import { Switch } from "../ui/choices";
import { sends } from "../ui/sends";
import { message } from "../ui/states";
import { useDraft } from "./draft";
import { MentionField } from "./MentionField";
import { QuietSwitch, SeenBy } from "./SeenBy";

type Changed = (more: number) => Promise<void>;
type Visibility = Pick<Params<"comments-create">, "visibility" | "quiet">;

export function CommentForm({ request, onChanged }: { request: FeatureRequest; onChanged: Changed }) {
  const [body, setBody] = useDraft("comment." + request.id);
  const [open, setOpen] = useState(false); // whether it is public; each comment starts as internal
  const toBody = useBody();
  return (
    <CommentFields
      request={request} body={body} onBody={setBody} open={open} onOpen={setOpen} label="Comment"
      send={async (visibility) => {
        await call("comments-create", { request_id: request.id, body: await toBody(body), ...visibility });
        setBody("");
        setOpen(false);
        await onChanged(1);
      }}
    />
  );
}

// useBody returns a function that turns the text of a field into the body of a comment. It waits for the
// names of the users, so that no mention is lost.
export function useBody(): (text: string) => Promise<string> {
  const client = useQueryClient();
  return async (text) => (text.includes("@") ? fromField(text, await client.ensureQueryData(usersQuery)) : text);
}

interface Fields {
  request: FeatureRequest;
  label: string;
  body: string;
  onBody(body: string): void;
  open: boolean;
  onOpen(open: boolean): void;
  send(visibility: Visibility): Promise<void>;
  saved?: string; // the text of an existing comment
  seen?: boolean; // whether it is public already, so that nobody is told
  onCancel?(): void;
}

export function CommentFields({ request, label, body, onBody, open, onOpen, send, saved, seen, onCancel }: Fields) {
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

  function keys(event: KeyboardEvent) {
    if (sends(event)) void submit(event);
    if (event.key === "Escape" && onCancel) {
      event.stopPropagation(); // otherwise it closes the request
      if (body === saved) onCancel();
    }
  }

  return (
    <form className="comment-form" data-public={open || undefined} onSubmit={(event) => void submit(event)} onKeyDown={keys}>
      <MentionField
        label={label}
        hideLabel
        rows={2}
        value={body}
        onChange={onBody}
        isReadOnly={sending}
        maxLength={10_000}
        autoFocus={!!onCancel}
        placeholder={open ? "Write a public comment…" : "Write an internal comment…"}
        error={error === undefined ? undefined : message(error)}
      />
      <div className="row">
        <Switch isSelected={open} onChange={onOpen}>Public</Switch>
        {open && !seen && <QuietSwitch quiet={quiet} onQuiet={setQuiet} />}
        <span className="request-bar-gap" />
        {onCancel && (
          <Button small kind="quiet" onPress={onCancel}>
            Cancel
          </Button>
        )}
        <Button small type="submit" kind="primary" isDisabled={!body.trim()} isPending={sending}>
          {onCancel ? "Save" : open ? "Comment publicly" : "Comment"}
        </Button>
      </div>
      {open && <SeenBy target={{ requests: [request] }} comment />}
    </form>
  );
}
