import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { call } from "../api/call";
import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { moment } from "../ui/marks";
import { notify } from "../ui/notices";
import { Snippet } from "../ui/Snippet";
import { message } from "../ui/states";
import { ConfirmDialog } from "./ConfirmDialog";
import { identifying, signing } from "./snippets";

// IdentitySection shows the secret with which the customer's backend signs identity tokens. It
// reads the secret only when the user asks for it, and does not cache it.
export function IdentitySection({ app }: { app: App }) {
  const [asking, setAsking] = useState(false);
  const secret = useMutation({
    mutationFn: (rotate: boolean) => call("apps-identity-secret", { id: app.id, ...(rotate && { rotate }) }),
    gcTime: 0,
  });
  const known = secret.data;
  return (
    <div className="stack">
      <p className="quiet">
        Anyone can enter any e-mail address in the widget, so submitters are unverified by default. To verify people who are logged in to
        your product, sign a token with this secret in your backend.
      </p>
      <h3>Secret</h3>
      {known ? (
        <Snippet label="identity secret" code={known.secret} />
      ) : (
        <p className="hidden-secret" aria-hidden="true">
          ••••••••••••••••••••••••••••••••
        </p>
      )}
      <div className="row">
        {known ? (
          <Button onPress={() => secret.reset()}>Hide secret</Button>
        ) : (
          <Button onPress={() => secret.mutate(false)} isPending={secret.isPending}>
            Show secret
          </Button>
        )}
        <Button kind="danger" onPress={() => setAsking(true)}>
          Rotate secret…
        </Button>
      </div>
      {secret.isError && !asking && (
        <p className="field-error" role="alert">
          {message(secret.error)}
        </p>
      )}
      {known?.previous_valid_until && (
        <p role="status">The previous secret works until {moment(known.previous_valid_until)}.</p>
      )}
      <p className="quiet small">Keep the secret in your backend, never in a page. Anyone who has it can impersonate any user.</p>
      <h3>In your backend (Node.js)</h3>
      <Snippet label="backend code" code={signing} />
      <h3>In your pages, before the script tag</h3>
      <Snippet label="page code" code={identifying} />
      <ConfirmDialog
        title="Rotate the identity secret?"
        isOpen={asking}
        onClose={() => setAsking(false)}
        word={app.name}
        action="Rotate secret"
        run={async () => {
          await secret.mutateAsync(true);
          notify("Secret rotated. Update your backend within 24 hours.");
        }}
      >
        <p>
          The current secret keeps working for 24 hours, so that you can update your backend. After that, tokens signed with it are refused.
        </p>
        <p>Any older secret stops working now.</p>
      </ConfirmDialog>
    </div>
  );
}
