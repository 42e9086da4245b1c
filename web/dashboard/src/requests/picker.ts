import { createContext, use } from "react";

import type { Target } from "./target";

export type PickerKind = "status" | "tags" | "assignee" | "merge" | "eta";
export type ShowPicker = (kind: PickerKind, target: Target) => void;

// atClose says what to do when the picker closes, however it does.
export type PickerProps = { target: Target; close(): void; atClose(run: () => void): void };

export const PickerContext = createContext<ShowPicker>(() => {});

// usePicker opens a picker: below the button that has the focus when it is marked
// data-picker, in the middle of the window otherwise.
export function usePicker(): ShowPicker {
  return use(PickerContext);
}
