import { createContext, use, useCallback, useRef, useState, type ReactNode } from "react";
import { Dialog, Modal, ModalOverlay, Popover } from "react-aria-components";

import { useSession } from "../api/session";
import { AssigneePicker } from "./AssigneePicker";
import type { Target } from "./changes";
import { EtaPicker } from "./EtaPicker";
import { MergePicker } from "./MergePicker";
import { StatusPicker } from "./StatusPicker";
import { TagsPicker } from "./TagsPicker";
import "./pickers.css";

export type PickerKind = "status" | "tags" | "assignee" | "merge" | "eta";
type Show = (kind: PickerKind, target: Target) => void;
type Opened = { kind: PickerKind; target: Target; anchor: Element | null };

const titles: Record<PickerKind, string> = { status: "Status", tags: "Tags", assignee: "Assignee", merge: "Merge into another request", eta: "ETA" };
const bodies = { status: StatusPicker, tags: TagsPicker, assignee: AssigneePicker, merge: MergePicker, eta: EtaPicker };

// atClose says what to do when the picker closes, however it does.
export type PickerProps = { target: Target; close(): void; atClose(run: () => void): void };

const PickerContext = createContext<Show>(() => {});

// usePicker opens a picker: below the button that has the focus when it is marked
// data-picker, in the middle of the window otherwise.
export function usePicker(): Show {
  return use(PickerContext);
}

export function PickerProvider({ children }: { children: ReactNode }) {
  const member = useSession().can("member");
  const [opened, setOpened] = useState<Opened | null>(null);
  const returnTo = useRef<HTMLElement | null>(null);
  const atClose = useRef<(() => void) | null>(null);

  const show = useCallback<Show>(
    (kind, target) => {
      if (!member) return;
      // One picker can lead to the next; the focus goes back to where the first was opened.
      const focused = document.activeElement as HTMLElement | null;
      if (!focused?.closest(".picker")) returnTo.current = focused;
      setOpened({ kind, target, anchor: returnTo.current?.closest("[data-picker]") ?? null });
    },
    [member],
  );

  function close() {
    atClose.current?.();
    atClose.current = null;
    setOpened(null);
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) returnTo.current?.focus();
    });
  }

  return (
    <PickerContext value={show}>
      {children}
      {opened && <PickerOverlay key={opened.kind} opened={opened} close={close} atClose={(run) => (atClose.current = run)} />}
    </PickerContext>
  );
}

function PickerOverlay({ opened, close, atClose }: Omit<PickerProps, "target"> & { opened: Opened }) {
  const Body = bodies[opened.kind];
  const onOpenChange = (open: boolean) => open || close();
  const dialog = (
    <Dialog aria-label={titles[opened.kind]} className="picker-dialog">
      <Body target={opened.target} close={close} atClose={atClose} />
    </Dialog>
  );
  if (opened.anchor && matchMedia("(min-width: 40rem)").matches) {
    return (
      <Popover isOpen onOpenChange={onOpenChange} triggerRef={{ current: opened.anchor }} placement="bottom start" offset={4} className="picker">
        {dialog}
      </Popover>
    );
  }
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={onOpenChange} className="picker-veil">
      <Modal className="picker">{dialog}</Modal>
    </ModalOverlay>
  );
}
