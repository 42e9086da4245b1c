import { useState, type FormEvent } from "react";

import { ApiError } from "../api/call";
import { message } from "../ui/states";

// useForm sends a form once at a time, and tells a fault of a field from one of the whole.
export function useForm(fields: string[], send: () => Promise<unknown>) {
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const field = error instanceof ApiError && error.field !== undefined && fields.includes(error.field) ? error.field : undefined;
  return {
    sending,
    // What is wrong with the field of this name.
    errorOf: (name: string) => (field === name ? message(error) : undefined),
    error: error && !field ? message(error) : undefined,
    onSubmit(event: FormEvent) {
      event.preventDefault();
      if (sending) return;
      setSending(true);
      setError(undefined);
      send().catch(setError).finally(() => setSending(false));
    },
  };
}
