import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ApiError, call } from "../api/call";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { notify } from "../ui/notices";
import { sessionsQuery } from "./queries";

export function PasswordForm({ email }: { email: string }) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const client = useQueryClient();
  const form = useForm(["current_password", "new_password"], async () => {
    await call("auth-change-password", { current_password: current, new_password: next }).catch(atField);
    setCurrent("");
    setNext("");
    notify("Password changed. Your other sessions have ended.");
    void client.invalidateQueries(sessionsQuery);
  }, { current_password: current, new_password: next });
  return (
    <form className="stack account-form" onSubmit={form.onSubmit}>
      <FormError error={form.error} />
      {/* Tells password managers whose password this is. */}
      <input type="text" autoComplete="username" value={email} readOnly hidden />
      <Field
        label="Current password"
        type="password"
        autoComplete="current-password"
        isRequired
        value={current}
        onChange={setCurrent}
        error={form.errorOf("current_password")}
      />
      <Field
        label="New password"
        type="password"
        autoComplete="new-password"
        isRequired
        value={next}
        onChange={setNext}
        error={form.errorOf("new_password")}
        hint="At least 10 characters. A phrase of several words is best."
      />
      <div className="row">
        <Button type="submit" kind="primary" isPending={form.sending}>Change password</Button>
        <p className="quiet small">This ends all your other sessions.</p>
      </div>
    </form>
  );
}

// The service's messages are about a login and parameters, not about the fields of this form.
function atField(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "auth.invalid_credentials") {
    throw new ApiError("auth.invalid_current_password", "This is not your current password.", error.status);
  }
  throw new ApiError(error.code, error.message.replace(/^(current|new)_password/, "The $1 password"), error.status, error.retryAfter);
}
