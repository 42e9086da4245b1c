import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { call } from "../api/call";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { isoTime, localTime } from "../ui/localTime";
import { count } from "../ui/marks";
import { notify } from "../ui/notices";
import { message } from "../ui/states";

interface Props {
  id: string;
  onClose(): void;
  onDone(): Promise<void>;
}

const minute = 60_000;

// DiscardVotes removes the votes of a period that were given on the portal without signing in.
export function DiscardVotes({ id, onClose, onDone }: Props) {
  const [from, setFrom] = useState(() => localTime(new Date(Date.now() - 1_440 * minute)));
  const [to, setTo] = useState(() => localTime(new Date(Date.now() + minute)));
  const period = { request_id: id, from: isoTime(from), to: isoTime(to) };
  const valid = period.from !== "" && period.from < period.to;
  const preview = useQuery({
    queryKey: ["requests", "discard", id, period],
    queryFn: ({ signal }) => call("votes-discard", { ...period, preview: true }, signal),
    enabled: valid,
  });
  const votes = preview.data && (preview.data.more ? "more than " : "") + count(preview.data.discarded, "vote");
  const form = useForm([], async () => {
    let removed = 0;
    for (let more = true; more;) {
      const answer = await call("votes-discard", period);
      removed += answer.discarded;
      more = answer.more;
    }
    await onDone();
    notify(`${count(removed, "vote")} removed.`);
    onClose();
  });
  return (
    <Dialog title="Discard votes without sign-in" isOpen onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit}>
        <p className="quiet">Removes votes that were given on the portal by people who are not signed in. This cannot be undone.</p>
        <Field label="From" type="datetime-local" value={from} onChange={setFrom} autoFocus />
        <Field label="To" type="datetime-local" value={to} onChange={setTo} error={valid ? undefined : "Choose a later time."} />
        <p role="status">{valid && votes && `This removes ${votes}.`}</p>
        <FormError error={form.error ?? (preview.error ? message(preview.error) : undefined)} />
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="danger" isPending={form.sending} isDisabled={!valid || !preview.data?.discarded}>
            Discard votes
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
