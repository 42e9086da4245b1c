import { useState } from "react";

import { call } from "../api/call";
import type { Webhook } from "../api/types";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { number } from "../ui/marks";
import { notify } from "../ui/notices";
import { put } from "./data";
import { placeOf } from "./State";

// RewindDialog sets the position in the log.
export function RewindDialog({ webhook: { id, health }, onClose }: { webhook: Webhook; onClose(): void }) {
  const [after, setAfter] = useState("");
  const form = useForm(["after"], async () => {
    const { webhook } = await call("webhooks-rewind", { id, after: Number(after) });
    await put(webhook);
    onClose();
    notify(`Everything after number ${number(webhook.health.position)} is sent.`);
  }, { after });
  return (
    <Dialog title="Replay from…" isOpen onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit}>
        <p>Events after this number are sent again, with the same ids. A higher number skips the events in between.</p>
        <Field
          label="Replay events after number"
          value={after}
          onChange={setAfter}
          isRequired
          autoFocus
          autoComplete="off"
          inputMode="numeric"
          error={form.errorOf("after") ?? form.error}
          hint={`${placeOf(health)}.`}
        />
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={form.sending}>Replay</Button>
        </div>
      </form>
    </Dialog>
  );
}
