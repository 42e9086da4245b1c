import { useEffect, type RefObject } from "react";

import type { Token } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { focusAfterDialog } from "../ui/focus";
import { message } from "../ui/states";
import { useRevoke } from "./data";

interface Props {
  token: Token;
  onClose(): void;
  // Gets the focus if the button that opened the dialog is gone.
  heading: RefObject<HTMLElement | null>;
}

export function RevokeDialog({ token, onClose, heading }: Props) {
  const revoke = useRevoke(token, onClose);
  useEffect(() => () => focusAfterDialog(() => heading.current), [heading]);
  return (
    <Dialog title={`Revoke “${token.name}”?`} isOpen onClose={onClose}>
      <p>Programs that use it stop working at once. This cannot be undone.</p>
      {revoke.error && <p className="field-error" role="alert">{message(revoke.error)}</p>}
      <div className="dialog-actions">
        <Button onPress={onClose} autoFocus>Cancel</Button>
        <Button kind="danger" isPending={revoke.isPending} onPress={() => revoke.mutate()}>Revoke</Button>
      </div>
    </Dialog>
  );
}
