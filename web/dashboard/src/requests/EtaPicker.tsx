import { useState, type FormEvent } from "react";
import { Input, Label, TextField } from "react-aria-components";

import { Button } from "../ui/Button";
import { useChanges } from "./changes";
import type { PickerProps } from "./picker";
import { shared } from "./target";

// EtaPicker uses the date field of the browser, which has a calendar in the user's language.
export function EtaPicker({ target, close }: PickerProps) {
  const now = shared(target, (request) => request.eta); // null: they have none; undefined: they differ
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
        <Label>ETA</Label>
        <Input className="picker-input" min="2000-01-01" max="9999-12-31" />
      </TextField>
      <div className="picker-foot">
        <Button onPress={() => save(null)}>Clear</Button>
        <Button type="submit" kind="primary">Save</Button>
      </div>
    </form>
  );
}
