import { useCallback, useRef, useState, type ReactNode } from "react";
import { Dialog, Modal, ModalOverlay, Popover } from "react-aria-components";

import { useSession } from "../api/session";
import { count } from "../ui/marks";
import { AssigneePicker } from "./AssigneePicker";
import { subject } from "./carry";
import { EtaPicker } from "./EtaPicker";
import { MergePicker } from "./MergePicker";
import { PickerContext, type PickerKind, type PickerProps, type ShowPicker } from "./picker";
import { rowOf } from "./rows";
import { StatusPicker } from "./StatusPicker";
import { TagsPicker } from "./TagsPicker";
import type { Target } from "./target";
import { UnmergePicker } from "./UnmergePicker";
import "./pickers.css";

type Opened = { kind: PickerKind; target: Target; anchor: Element | null };

const titles: Record<PickerKind, string> = {
  status: "Status",
  tags: "Tags",
  assignee: "Assignee",
  merge: "Merge into another request",
  unmerge: "Unmerge",
  eta: "ETA",
};
const bodies = {
  status: StatusPicker,
  tags: TagsPicker,
  assignee: AssigneePicker,
  merge: MergePicker,
  unmerge: UnmergePicker,
  eta: EtaPicker,
};

export function PickerProvider({ children }: { children: ReactNode }) {
  const member = useSession().can("member");
  const [opened, setOpened] = useState<Opened | null>(null);
  const returnTo = useRef<HTMLElement | null>(null);
  const atClose = useRef<(() => void) | null>(null);

  const show = useCallback<ShowPicker>(
    (kind, target) => {
      if (!member) return;
      // A picker can open another one. The focus returns to the element that opened the first.
      const focused = document.activeElement as HTMLElement | null;
      if (!focused?.closest(".picker")) returnTo.current = focused;
      setOpened({ kind, target, anchor: anchorOf(kind, target, returnTo.current) });
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

// anchorOf returns what a picker opens below, if it is on the screen.
function anchorOf(kind: PickerKind, target: Target, focused: Element | null): Element | null {
  const pressed = focused?.closest("[data-picker]");
  if (pressed) return pressed;
  const button = `[data-picker="${kind}"]`;
  const [first, ...others] = "requests" in target ? target.requests : [];
  const single = first && !others.length && first.id;
  const places = single ? [`[data-request="${single}"] ${button}`, `[role="option"][id$="${single}"]`] : [`.bulk ${button}`];
  const found = places.map((place) => document.querySelector(place));
  return found.find((element) => element && isOnScreen(element)) ?? null;
}

function isOnScreen(element: Element): boolean {
  const { top, bottom, left, right } = element.getBoundingClientRect();
  const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return hit !== null && element.contains(hit);
}

// subjectOf says what a picker changes.
const subjectOf = (target: Target) => ("requests" in target ? subject(target.requests.map(rowOf)) : count(target.count, "request"));

function PickerOverlay({ opened, close, atClose }: Omit<PickerProps, "target"> & { opened: Opened }) {
  const Body = bodies[opened.kind];
  const onOpenChange = (open: boolean) => open || close();
  const anchored = opened.anchor && matchMedia("(min-width: 40rem)").matches;
  const dialog = (
    <Dialog aria-label={titles[opened.kind]} className="picker-dialog">
      {opened.kind !== "merge" && !opened.anchor?.closest(".properties") && <p className="picker-subject">{subjectOf(opened.target)}</p>}
      <Body target={opened.target} close={close} atClose={atClose} />
    </Dialog>
  );
  if (anchored) {
    return (
      <Popover
        isOpen
        onOpenChange={onOpenChange}
        triggerRef={{ current: opened.anchor! }}
        placement="bottom start"
        offset={4}
        className="picker"
      >
        {dialog}
      </Popover>
    );
  }
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={onOpenChange} className="picker-overlay">
      <Modal className="picker">{dialog}</Modal>
    </ModalOverlay>
  );
}
