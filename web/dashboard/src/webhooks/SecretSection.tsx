import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { call } from "../api/call";
import type { Webhook } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { moment } from "../ui/marks";
import { notify } from "../ui/notices";
import { Snippet } from "../ui/Snippet";
import { message } from "../ui/states";

// SecretSection reads the secret only when the user asks for it, and does not cache it.
export function SecretSection({ webhook }: { webhook: Webhook }) {
  const [asking, setAsking] = useState(false);
  const secret = useMutation({
    mutationFn: (rotate: boolean) => call("webhooks-secret", { id: webhook.id, ...(rotate && { rotate }) }),
    onSuccess: (_, rotate) => {
      if (rotate) notify("Secret rotated. The old one keeps working for 24 hours.");
      setAsking(false);
    },
    gcTime: 0,
  });
  const { data, error } = secret;
  const failed = error && <p className="field-error" role="alert">{message(error)}</p>;
  return (
    <section className="card stack" aria-labelledby="hook-secret">
      <h2 id="hook-secret">Secret</h2>
      <p className="quiet">It signs every delivery. Your endpoint verifies the signature with it.</p>
      {data ? (
        <Snippet label="signing secret" code={data.secret} />
      ) : (
        <p className="hidden-secret" aria-hidden="true">whsec_••••••••••••••••••••••••</p>
      )}
      <div className="row">
        <Button isPending={secret.isPending && !asking} onPress={() => (data ? secret.reset() : secret.mutate(false))}>
          {data ? "Hide secret" : "Show secret"}
        </Button>
        <Button kind="danger" onPress={() => setAsking(true)}>Rotate secret…</Button>
      </div>
      {!asking && failed}
      <p role="status" className="hook-until">
        {data?.previous_valid_until && `The old secret works until ${moment(data.previous_valid_until)}.`}
      </p>
      {asking && (
        <Dialog title="Rotate the secret?" isOpen onClose={() => setAsking(false)}>
          <p>
            The old secret keeps working for 24 hours, so replace it in your endpoint within that time. Any older secret stops
            working now.
          </p>
          {failed}
          <div className="dialog-actions">
            <Button onPress={() => setAsking(false)} autoFocus>Cancel</Button>
            <Button kind="danger" isPending={secret.isPending} onPress={() => secret.mutate(true)}>Rotate secret</Button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
