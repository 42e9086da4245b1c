import type { ReactNode } from "react";
import { Checkbox as AriaCheckbox, type CheckboxProps } from "react-aria-components";

import { CheckIcon } from "./icons";
import "./field.css";

// The children are the label. Without them, it needs an aria-label.
export function Checkbox({ children, ...props }: Omit<CheckboxProps, "className" | "children"> & { children?: ReactNode }) {
  return (
    <AriaCheckbox {...props} className="choice">
      {({ isIndeterminate }) => (
        <>
          <span className="check-box">
            {isIndeterminate ? (
              <svg width="10" height="2" viewBox="0 0 10 2" aria-hidden="true">
                <rect width="10" height="2" rx="1" fill="currentColor" />
              </svg>
            ) : (
              <CheckIcon size={14} />
            )}
          </span>
          {children && <span className="choice-text">{children}</span>}
        </>
      )}
    </AriaCheckbox>
  );
}
