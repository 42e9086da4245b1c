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
  // Cannot be closed: there is nothing to do but what it asks for.
  stays?: boolean;
  wide?: boolean;
}

// A question over the page. Put the buttons into <div className="dialog-actions">.
export function Dialog({ title, isOpen, onClose, children, stays, wide }: Props) {
  return (
    <ModalOverlay
      className="veil"
      isOpen={isOpen}
      onOpenChange={(open) => open || onClose()}
      isDismissable={!stays}
      isKeyboardDismissDisabled={!!stays}
    >
      <Modal className={wide ? "modal modal-wide" : "modal"}>
        <AriaDialog className="dialog" {...(stays && { role: "alertdialog" as const })}>
          <div className="dialog-head">
            <Heading slot="title" level={2}>{title}</Heading>
            {!stays && <Button kind="quiet" icon small aria-label="Close" onPress={onClose}><CloseIcon /></Button>}
          </div>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
