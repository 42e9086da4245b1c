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

// JoinPage opens from invitation and password reset links. The token is in the fragment,
// which browsers do not send.
export default function JoinPage() {
  usePageTitle("Join");
  const token = useLinkToken("join");
  const invite = useQuery({ queryKey: ["invite", token], queryFn: () => send("auth-check-invite", { token }), staleTime: Infinity });
  if (invite.data) return <JoinForm key={token} token={token} invite={invite.data} />;
  if (invite.error instanceof ApiError && !invite.error.temporary) {
    return (
      <Narrow
        title="This link no longer works"
        intro="It was already used or has expired. Ask an admin for a new one."
      >
        <Link to="/">Log in instead</Link>
      </Narrow>
    );
  }
  return (
    <Narrow title="Checking your link">
      {invite.error ? <Failure error={invite.error} onRetry={() => void invite.refetch()} /> : <Skeleton />}
    </Narrow>
  );
}

function JoinForm({ token, invite }: { token: string; invite: Result<"auth-check-invite"> }) {
  const navigate = useNavigate();
  const now = usePhase();
  const other = "me" in now && now.me.user.email !== invite.email ? now.me.user : undefined;
  useEffect(() => {
    if (now.phase === "starting") start().catch(() => undefined); // only for the warning below
  }, []);
  const [name, setName] = useState(invite.name);
  const [password, setPassword] = useState("");
  const form = useForm(["name", "password"], async () => {
    await join({ token, password, ...(invite.invited && { name }) });
    forgetLinkToken("join");
    await navigate({ to: "/", replace: true });
  }, { password, ...(invite.invited && { name }) });
  return (
    <Narrow
      title={invite.invited ? `Join ${invite.account_name}` : "Set a new password"}
      intro={invite.invited ? "Choose a password to join the team." : "This ends all your sessions and logs you in here."}
    >
      <form className="form" onSubmit={form.onSubmit}>
        {other && (
          <p className="form-error">
            You are logged in as {other.name}, but this link is for {invite.name}. If you continue, {other.name} will be logged out.
          </p>
        )}
        <FormError error={form.error} />
        <Field label="E-mail" type="email" name="email" autoComplete="username" value={invite.email} isReadOnly />
        {invite.invited && (
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
          hint="At least 10 characters."
          isRequired
          autoFocus
        />
        <Button type="submit" kind="primary" isPending={form.sending}>
          {invite.invited ? "Join" : "Set password"}
        </Button>
      </form>
    </Narrow>
  );
}
