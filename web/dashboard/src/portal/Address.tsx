import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { call } from "../api/call";
import { Button } from "../ui/Button";
import { Radios } from "../ui/choices";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { moment } from "../ui/marks";
import { Snippet } from "../ui/Snippet";
import { message } from "../ui/states";
import { addressOf } from "./url";
import type { Access, Step } from "./draft";
import { checkQuery } from "./queries";

const accesses: { id: Access; name: string; hint: string }[] = [
  { id: "public", name: "Public", hint: "Everybody can open it." },
  { id: "link", name: "Only with the link", hint: "Anyone with the link can open the portal and pass the link on." },
  { id: "signed_in", name: "Only signed in", hint: "People whom your product has signed in. See Identity." },
];

interface Props extends Step {
  slug: string; // with the one that is proposed
  onSlug(slug: string): void;
  access: Access;
  onAccess(access: Access): void;
}

// Address says where the portal is, and who can open it.
export function Address({ app, form, slug, onSlug, access, onAccess }: Props) {
  const { value, change, errors, readOnly } = form;
  const signsIn = access === "signed_in" || [value.voting, value.comments, value.submit].includes("verified");
  return (
    <>
      <Field
        label="Address"
        hint={slug || value.host ? addressOf({ host: value.host, slug }) : "Lower-case letters, digits and single hyphens."}
        value={slug}
        onChange={onSlug}
        error={errors["slug"]}
        isDisabled={readOnly}
        maxLength={50}
        autoComplete="off"
        spellCheck="false"
      />
      <div className="portal-host">
        <Field
          label="Own host (optional)"
          placeholder="ideas.example.com"
          value={value.host}
          onChange={(host) => change({ host })}
          error={errors["host"]}
          isDisabled={readOnly}
          inputMode="url"
          autoComplete="off"
          spellCheck="false"
        />
        <p className="quiet small">
          Point the host’s DNS record to your reverse proxy, which passes the calls on to Gatherkit. The manual
          docs/portal.md shows how.
        </p>
      </div>
      <Radios
        label="Who can open it"
        value={access}
        options={accesses}
        onChange={onAccess}
        error={errors["access"]}
        isDisabled={readOnly}
      />
      {access === "link" && !readOnly && <PortalLink app={app} />}
      {signsIn && (
        <Field
          label="Sign-in page (optional)"
          hint="The page of your product that signs people in. It gets the parameter return_to."
          placeholder="https://www.example.com/sign-in"
          value={value.sign_in_url}
          onChange={(sign_in_url) => change({ sign_in_url })}
          error={errors["sign_in_url"]}
          isDisabled={readOnly}
          inputMode="url"
          autoComplete="off"
          spellCheck="false"
        />
      )}
    </>
  );
}

// PortalLink makes the link of the portal. The service stores only its hash, so it is shown once.
function PortalLink({ app }: Pick<Step, "app">) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const check = checkQuery(app.id, app.settings.sharing);
  const made = useQuery(check).data?.linkCreated;
  const rotate = useMutation({
    mutationFn: () => call("portal-rotate-link", { id: app.id }),
    gcTime: 0,
    onSuccess: () => client.invalidateQueries(check),
    onSettled: () => setAsking(false),
  });
  if (!app.settings.portal.slug) {
    return <p className="quiet small">Switch on the portal first. Then create its link here; until then, nobody can open it.</p>;
  }
  return (
    <div className="portal-note">
      {rotate.data && (
        <>
          <p role="status">Copy the link now. It is shown only once.</p>
          <Snippet label="portal link" code={rotate.data.url} />
        </>
      )}
      {made && !rotate.data && <p className="quiet">The link was created {moment(made)}. It cannot be shown again.</p>}
      <div>
        <Button isPending={rotate.isPending} onPress={() => (made ? setAsking(true) : rotate.mutate())}>
          {made ? "Replace link…" : "Create link"}
        </Button>
      </div>
      {rotate.error && <p className="field-error" role="alert">{message(rotate.error)}</p>}
      <Dialog title="Replace the link?" isOpen={asking} onClose={() => setAsking(false)}>
        <p>The current link stops working at once.</p>
        <div className="dialog-actions">
          <Button onPress={() => setAsking(false)} autoFocus>Cancel</Button>
          <Button kind="danger" isPending={rotate.isPending} onPress={() => rotate.mutate()}>Replace link</Button>
        </div>
      </Dialog>
    </div>
  );
}
