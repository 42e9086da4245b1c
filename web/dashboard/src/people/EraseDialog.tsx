import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Radios } from "../ui/choices";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { erase, type Erased, type Found, type Mode, type Who } from "./data";

interface Props {
  who: Who;
  found: Found;
  isOpen: boolean;
  onClose(): void;
  onDone(erased: Erased): void;
}

export function EraseDialog({ isOpen, onClose, ...props }: Props) {
  return (
    <Dialog title="Erase this person?" isOpen={isOpen} onClose={onClose}>
      <EraseForm {...props} onClose={onClose} />
    </Dialog>
  );
}

const modes: { id: Mode; name: string; hint: string }[] = [
  { id: "anonymise", name: "Anonymise", hint: "Requests, votes and comments stay and count, without a name." },
  { id: "delete", name: "Delete", hint: "Votes and comments are deleted, and requests behind which nobody else is." },
];

function EraseForm({ who, found, onClose, onDone }: Omit<Props, "isOpen">) {
  const [mode, setMode] = useState<Mode>("anonymise");
  const [typed, setTyped] = useState("");
  const [mismatch, setMismatch] = useState(false);
  const client = useQueryClient();
  const wanted = who.email ?? who.id ?? "";
  const form = useForm([], async () => {
    if (typed.trim() !== wanted) {
      setMismatch(true);
      return;
    }
    const erased = await erase(who, mode, found);
    void client.invalidateQueries({ queryKey: ["requests"] });
    onClose();
    onDone(erased);
  });
  return (
    <form className="stack" onSubmit={form.onSubmit}>
      <FormError error={form.error} />
      <Radios<Mode> label="What happens to what they did" value={mode} options={modes} onChange={setMode} />
      <p>
        Names, addresses, metadata, attached files, private links, e-mail subscriptions and sessions are deleted in both cases. This cannot
        be undone.
      </p>
      <Field
        label={`Type ${wanted} to confirm`}
        value={typed}
        onChange={(text) => {
          setTyped(text);
          setMismatch(false);
        }}
        autoComplete="off"
        error={mismatch ? `Type ${wanted} exactly.` : undefined}
      />
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="danger" isPending={form.sending}>Erase</Button>
      </div>
    </form>
  );
}
