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

// RewindDialog sets the position in the log.
export function RewindDialog({ webhook: { id, health }, onClose }: { webhook: Webhook; onClose(): void }) {
  const [after, setAfter] = useState("");
  const form = useForm(["after"], async () => {
    const { webhook } = await call("webhooks-rewind", { id, after: Number(after) });
    await put(webhook);
    onClose();
    notify(`Everything after number ${number(webhook.health.position)} is delivered.`);
  }, { after });
  return (
    <Dialog title="Go back to…" isOpen onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit}>
        <p>The endpoint receives again what comes after this number, with the same ids. A higher number skips what is in between.</p>
        <Field
          label="Deliver everything after number"
          value={after}
          onChange={setAfter}
          isRequired
          autoFocus
          autoComplete="off"
          inputMode="numeric"
          error={form.errorOf("after") ?? form.error}
          hint={`It is at ${health.position}, and the log ends at ${health.position + health.behind}.`}
        />
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={form.sending}>Go</Button>
        </div>
      </form>
    </Dialog>
  );
}
