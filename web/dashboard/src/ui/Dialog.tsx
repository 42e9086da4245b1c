import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";

import { Button } from "./Button";
import { CloseIcon } from "./icons";
import "./dialog.css";

interface Props {
  title: string;
  isOpen: boolean;
  onClose(): void;
  children: ReactNode;
  // The user cannot close it without completing it.
  required?: boolean;
  wide?: boolean;
}

// Dialog is modal. Put its buttons into <div className="dialog-actions">.
export function Dialog({ title, isOpen, onClose, children, required, wide }: Props) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(open) => open || onClose()}
      isDismissable={!required}
      isKeyboardDismissDisabled={!!required}
    >
      <Modal className={wide ? "modal modal-wide" : "modal"}>
        <AriaDialog className="dialog" {...(required && { role: "alertdialog" as const })}>
          <div className="dialog-head">
            <Heading slot="title" level={2}>{title}</Heading>
            {!required && <Button kind="quiet" icon small aria-label="Close" onPress={onClose}><CloseIcon /></Button>}
          </div>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
