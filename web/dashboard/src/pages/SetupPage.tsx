import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { send } from "../api/call";
import { setUp } from "../api/session";
import { usePageTitle } from "../shell/title";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { Failure, Skeleton } from "../ui/states";
import { Narrow } from "./Narrow";
import { useForm } from "./useForm";
import { forgetLinkToken, useLinkToken } from "./useLinkToken";

// SetupPage opens from the link that the service prints. The token is in the fragment, which browsers
// do not send.
export function SetupPage() {
  usePageTitle("Welcome");
  const token = useLinkToken("setup");
  const status = useQuery({
    queryKey: ["setup-status", token],
    queryFn: () => send("setup-status", token ? { token } : {}),
    staleTime: Infinity, // the form itself ends the set-up
  });
  if (!status.data) {
    return (
      <Narrow title="Checking your link">
        {status.error ? <Failure error={status.error} onRetry={() => void status.refetch()} /> : <Skeleton />}
      </Narrow>
    );
  }
  if (status.data.set_up) {
    return (
      <Narrow title="Already set up" intro="This link works only once. The account and its owner already exist.">
        <Link to="/" className="button button-primary">Go to inbox</Link>
        <p className="quiet small">No password yet? Ask an admin for an invitation.</p>
      </Narrow>
    );
  }
  if (status.data.token_valid) return <SetupForm key={token} token={token} />;
  return (
    <Narrow
      title={token ? "This link does not work" : "Welcome"}
      intro={
        token
          ? "It is incomplete, or it belongs to another installation. Open the whole link that Gatherkit printed when it started."
          : "To create your account, open the link that Gatherkit printed when it started."
      }
    >
      <p className="quiet small">
        The link is in the terminal or in the service’s log. A restart prints a new one.
      </p>
    </Narrow>
  );
}

// SetupForm creates the account and its owner.
function SetupForm({ token }: { token: string }) {
  const navigate = useNavigate();
  const [account, setAccount] = useState("");
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const form = useForm(["account_name", "name", "email", "password"], async () => {
    await setUp({ token, account_name: account, name, email: email.trim(), password });
    forgetLinkToken("setup");
    await navigate({ to: "/apps", replace: true });
  }, { account_name: account, name, email, password });
  return (
    <Narrow title="Welcome" intro="You are the first user, so you become the owner.">
      <form className="form" onSubmit={form.onSubmit}>
        <FormError error={form.error} />
        <Field
          label="Company or project"
          name="organization"
          autoComplete="organization"
          value={account}
          onChange={setAccount}
          error={form.errorOf("account_name")}
          isRequired
          autoFocus
        />
        <Field label="Your name" name="name" autoComplete="name" value={name} onChange={setName} error={form.errorOf("name")} isRequired />
        <Field
          label="E-mail"
          type="email"
          name="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          error={form.errorOf("email")}
          hint="Used to log in."
          isRequired
        />
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
        />
        <Button type="submit" kind="primary" isPending={form.sending}>
          Create account
        </Button>
      </form>
    </Narrow>
  );
}
