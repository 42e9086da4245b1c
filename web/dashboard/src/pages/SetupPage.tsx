import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { send } from "../api/call";
import { setUp } from "../api/session";
import { usePageTitle } from "../shell/title";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { Narrow } from "./Narrow";
import { useForm } from "./useForm";
import { forgetLinkToken, useLinkToken } from "./useLinkToken";

// SetupPage makes the first user. The token stands behind #, which browsers send to nobody.
export function SetupPage() {
  usePageTitle("Welcome");
  const navigate = useNavigate();
  const token = useLinkToken("setup");
  const [account, setAccount] = useState("");
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const form = useForm(["account_name", "name", "email", "password"], async () => {
    await setUp({ token, account_name: account, name, email: email.trim(), password });
    forgetLinkToken("setup");
    await navigate({ to: "/apps", replace: true });
  }, { account_name: account, name, email, password });
  const status = useQuery({ queryKey: ["setup-status"], queryFn: () => send("setup-status", {}) });
  if (status.data?.set_up && !form.sending) {
    return (
      <Narrow title="All is set up" lead="This link has done its work: the first account and its owner are there.">
        <Link to="/" className="button button-primary">Go to the inbox</Link>
        <p className="quiet small">You belong to the team and have no password yet? Ask an admin for an invitation.</p>
      </Narrow>
    );
  }
  if (!token) {
    return (
      <Narrow title="Welcome" lead="Open the link that Gatherkit printed when it started: it holds the key to the first account.">
        <p className="quiet small">
          It stands in the terminal, or in the service’s journal. A restart prints a new one, as long as there is no user.
        </p>
      </Narrow>
    );
  }
  return (
    <Narrow title="Welcome" lead="You are the first here, so you become the owner. This takes half a minute.">
      <form className="form" onSubmit={form.onSubmit}>
        <FormError error={form.error} />
        <Field
          label="Your company or project"
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
          hint="To log in with. Nothing is sent to it."
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
          hint="At least ten characters."
          isRequired
        />
        <Button type="submit" kind="primary" isPending={form.sending}>
          Create the account
        </Button>
      </form>
    </Narrow>
  );
}
