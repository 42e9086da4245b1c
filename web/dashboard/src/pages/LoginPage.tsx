import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { send } from "../api/call";
import { logIn, logOut } from "../api/session";
import { usePageTitle } from "../shell/title";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { Narrow } from "./Narrow";
import { SetupPage } from "./SetupPage";
import { useForm } from "./useForm";

// The demo fills in its owner's login (web/demo.go). No other service does.
const inDemo = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=demo-${name}]`)?.content ?? "";
const demo = { email: inDemo("email"), password: inDemo("password") };

export function LoginPage() {
  usePageTitle("Log in");
  const installed = useQuery({ queryKey: ["setup-status"], queryFn: () => send("setup-status", {}) });
  if (installed.data?.set_up === false) return <SetupPage />;
  return (
    <Narrow title="Log in" intro={demo.password && "This is a demo, so the login is filled in. Its data is deleted when it stops."}>
      <LoginForm />
      {!demo.password && (
        <p className="quiet small">
          Forgot your password? Ask an admin for a password reset link. Sole owner? Run <code>gatherkit user set-password</code>.
        </p>
      )}
    </Narrow>
  );
}

// LoginDialog covers the page when the session has ended, so that nothing on it is lost.
export function LoginDialog({ email }: { email: string }) {
  return (
    <Dialog title="Log in again" isOpen required onClose={() => undefined}>
      <p className="quiet">Your session has ended. Log in to continue. Nothing on this page is lost.</p>
      <LoginForm email={email} />
    </Dialog>
  );
}

function LoginForm({ email: known = "" }: { email?: string }) {
  const [email, setEmail] = useState(known || demo.email);
  const [password, setPassword] = useState(email === demo.email ? demo.password : "");
  const form = useForm(["email", "password"], () => logIn(email.trim(), password), { email, password });
  return (
    <form className="form" onSubmit={form.onSubmit}>
      <FormError error={form.error} />
      <Field
        label="E-mail"
        type="email"
        name="email"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        error={form.errorOf("email")}
        isReadOnly={known !== ""}
        autoFocus={known === ""}
        isRequired
      />
      <Field
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        error={form.errorOf("password")}
        autoFocus={known !== ""}
        isRequired
      />
      <Button type="submit" kind="primary" isPending={form.sending}>
        Log in
      </Button>
      {known !== "" && (
        <Button kind="quiet" onPress={() => void logOut()}>
          Log in as someone else
        </Button>
      )}
    </form>
  );
}
