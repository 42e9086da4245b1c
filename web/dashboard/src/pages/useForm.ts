import { useState, type FormEvent } from "react";

import { ApiError } from "../api/call";
import { message } from "../ui/states";

// useForm sends a form once at a time, and separates the errors of its fields from other
// errors. required has the values of the required fields by name.
export function useForm(fields: string[], send: () => Promise<unknown>, required: Record<string, string> = {}) {
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const [missing, setMissing] = useState<string[]>([]);
  const field = error instanceof ApiError && error.field !== undefined && fields.includes(error.field) ? error.field : undefined;
  return {
    sending,
    errorOf(name: string): string | undefined {
      if (missing.includes(name) && !required[name]?.trim()) return "This field is required.";
      return field === name ? message(error) : undefined;
    },
    error: error && !field ? message(error) : undefined,
    onSubmit(event: FormEvent<HTMLFormElement>) {
      event.preventDefault();
      if (sending) return;
      setError(undefined);
      const blank = Object.keys(required).filter((name) => !required[name]?.trim());
      setMissing(blank);
      if (blank.length > 0) {
        const form = event.currentTarget;
        requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
        return;
      }
      setSending(true);
      send().catch(setError).finally(() => setSending(false));
    },
  };
}
