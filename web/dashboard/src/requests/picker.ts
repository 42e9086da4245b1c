import { createContext, use } from "react";

import type { Target } from "./target";

export type PickerKind = "status" | "tags" | "assignee" | "merge" | "unmerge" | "eta";
export type ShowPicker = (kind: PickerKind, target: Target) => void;

// atClose sets a function that runs when the picker closes.
export type PickerProps = { target: Target; close(): void; atClose(run: () => void): void };

export const PickerContext = createContext<ShowPicker>(() => {});

// usePicker returns a function that opens a picker: below the focused button if it has
// data-picker, and otherwise in the middle of the window.
export function usePicker(): ShowPicker {
  return use(PickerContext);
}
