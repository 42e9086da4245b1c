import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";

import { ApiError, send, type Result } from "../api/call";
import { join, start, usePhase } from "../api/session";
import { usePageTitle } from "../shell/title";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { Failure, Skeleton } from "../ui/states";
import { Narrow } from "./Narrow";
import { useForm } from "./useForm";
import { forgetLinkToken, useLinkToken } from "./useLinkToken";

// JoinPage is where the links of invitations and of forgotten passwords lead. The token
// stands behind #, which browsers send to nobody.
export default function JoinPage() {
  usePageTitle("Join");
  const token = useLinkToken("join");
  const known = useQuery({ queryKey: ["invite", token], queryFn: () => send("auth-check-invite", { token }), staleTime: Infinity });
  if (known.data) return <JoinForm key={token} token={token} known={known.data} />;
  if (known.error instanceof ApiError && !known.error.passing) {
    return (
      <Narrow
        title="This link does not work any more"
        lead="It was used before, or its time is over. Ask whoever sent it for a new one: an admin makes it on the page “Team”."
      >
        <Link to="/">Log in instead</Link>
      </Narrow>
    );
  }
  return (
    <Narrow title="One moment">{known.error ? <Failure error={known.error} onRetry={() => void known.refetch()} /> : <Skeleton />}</Narrow>
  );
}

function JoinForm({ token, known }: { token: string; known: Result<"auth-check-invite"> }) {
  const navigate = useNavigate();
  const now = usePhase();
  const other = "me" in now && now.me.user.email !== known.email ? now.me.user : undefined;
  useEffect(() => {
    if (now.phase === "starting") start().catch(() => undefined); // who is logged in is good to know, and no more
  }, []);
  const [name, setName] = useState(known.name);
  const [password, setPassword] = useState("");
  const form = useForm(["name", "password"], async () => {
    await join({ token, password, ...(known.invited && { name }) });
    forgetLinkToken("join");
    await navigate({ to: "/", replace: true });
  }, { password, ...(known.invited && { name }) });
  return (
    <Narrow
      title={known.invited ? `Join ${known.account_name}` : "Set a new password"}
      lead={known.invited ? "Choose a password, and you are in." : "All your sessions end, and you are logged in here."}
    >
      <form className="form" onSubmit={form.onSubmit}>
        {other && (
          <p className="form-error">
            You are logged in here as {other.name}. This link is for {known.name}: it works once, and in this browser it logs you out.
          </p>
        )}
        <FormError error={form.error} />
        <Field label="E-mail" type="email" name="email" autoComplete="username" value={known.email} isReadOnly />
        {known.invited && (
          <Field
            label="Your name"
            name="name"
            autoComplete="name"
            value={name}
            onChange={setName}
            error={form.errorOf("name")}
            isRequired
          />
        )}
        <Field
          label="Password"
          type="password"
          name="password"
          autoComplete="new-password"
          value={password}
          onChange={setPassword}
          error={form.errorOf("password")}
          hint="At least ten characters."
          isRequired
          autoFocus
        />
        <Button type="submit" kind="primary" isPending={form.sending}>
          {known.invited ? "Join" : "Set the password"}
        </Button>
      </form>
    </Narrow>
  );
}
