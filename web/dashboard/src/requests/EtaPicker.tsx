import { useState, type FormEvent } from "react";
import { Input, Label, TextField } from "react-aria-components";

import { Button } from "../ui/Button";
import { useChanges } from "./changes";
import type { PickerProps } from "./picker";
import { shared } from "./target";

// The browser's own date field: it speaks the person's language and has a calendar.
export function EtaPicker({ target, close }: PickerProps) {
  const now = shared(target, (request) => request.eta); // null: none has one, undefined: they differ
  const [date, setDate] = useState(now ?? "");
  const { update } = useChanges();

  function save(eta: string | null) {
    close();
    if (eta !== now) void update(target, { eta });
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    save(date || null);
  }

  return (
    <form className="picker-form" onSubmit={submit}>
      <TextField type="date" value={date} onChange={setDate} autoFocus className="picker-field">
        <Label>Expected on</Label>
        <Input className="picker-input" min="2000-01-01" max="9999-12-31" />
      </TextField>
      <div className="picker-foot">
        <Button onPress={() => save(null)}>Clear</Button>
        <Button type="submit" kind="primary">Save</Button>
      </div>
    </form>
  );
}
