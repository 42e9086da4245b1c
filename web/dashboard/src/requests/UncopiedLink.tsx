import type { ReactNode } from "react";

import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";

// UncopiedLink shows a link that the browser refused to copy, so that the user copies it by hand.
export function UncopiedLink({ url, onClose, children }: { url: string; onClose(): void; children?: ReactNode }) {
  return (
    <Dialog title="Copy this link" isOpen={url !== ""} onClose={onClose}>
      {children}
      <p>Your browser blocked copying. Copy the link by hand.</p>
      <Field
        hideLabel
        label="Link"
        value={url}
        isReadOnly
        autoFocus
        onFocus={(event) => (event.target as HTMLInputElement).select()}
      />
      <div className="dialog-actions"><Button kind="primary" onPress={onClose}>Done</Button></div>
    </Dialog>
  );
}
