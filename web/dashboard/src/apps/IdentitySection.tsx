import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { call } from "../api/call";
import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { notify } from "../ui/notices";
import { message } from "../ui/states";
import { ConfirmDialog } from "./ConfirmDialog";
import { Snippet } from "./Snippet";
import { identifying, signing } from "./snippets";

const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

// The secret by which the customer's backend vouches for people. It is asked for when
// somebody wants to see it, and not kept.
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
        Anybody can type any e-mail address into the widget, so such people are shown as not verified. Your backend can vouch for those who
        are logged in to your product: it signs a token with this secret.
      </p>
      <h3>Secret</h3>
      {known ? (
        <Snippet label="the identity secret" code={known.secret} />
      ) : (
        <p className="hidden-secret" aria-hidden="true">
          ••••••••••••••••••••••••••••••••
        </p>
      )}
      <div className="row">
        {known ? (
          <Button onPress={() => secret.reset()}>Hide it</Button>
        ) : (
          <Button onPress={() => secret.mutate(false)} isPending={secret.isPending}>
            Show the secret
          </Button>
        )}
        <Button kind="danger" onPress={() => setAsking(true)}>
          Make a new secret…
        </Button>
      </div>
      {secret.isError && !asking && (
        <p className="field-error" role="alert">
          {message(secret.error)}
        </p>
      )}
      {known?.previous_valid_until && (
        <p role="status">The secret before is good until {moment.format(new Date(known.previous_valid_until))}.</p>
      )}
      <p className="quiet small">Keep it in your backend, never in a page: whoever has it can speak for anybody.</p>
      <h3>In your backend, with Node</h3>
      <Snippet label="the code for your backend" code={signing} />
      <h3>In your pages, before the script tag</h3>
      <Snippet label="the code for your pages" code={identifying} />
      <ConfirmDialog
        title="Make a new secret?"
        isOpen={asking}
        onClose={() => setAsking(false)}
        word={app.name}
        action="Make a new secret"
        run={async () => {
          await secret.mutateAsync(true);
          notify("The app has a new secret. Give it to your backend within 24 hours.");
        }}
      >
        <p>
          The secret of today stays good for 24 hours, so that you can change your backends one after the other. After that, tokens that it
          signed are refused.
        </p>
        <p>A still older one that has not run out ends at once.</p>
      </ConfirmDialog>
    </div>
  );
}
