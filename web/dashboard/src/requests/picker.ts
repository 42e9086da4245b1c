import { createContext, use } from "react";

import type { Target } from "./target";

export type PickerKind = "status" | "tags" | "assignee" | "merge" | "unmerge" | "eta";
export type ShowPicker = (kind: PickerKind, target: Target) => void;

// atClose sets a function that runs when the picker closes.
export type PickerProps = { target: Target; close(): void; atClose(run: () => void): void };

export const PickerContext = createContext<ShowPicker>(() => {});

// usePicker returns a function that opens a picker: below the pressed button, whose data-picker is the kind, below the property
// of the open request, the button of the selected requests, or the row; and in the middle of a narrow window.
export function usePicker(): ShowPicker {
  return use(PickerContext);
}
