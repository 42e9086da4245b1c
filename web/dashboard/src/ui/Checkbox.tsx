import { Choice } from "./choices";
import { CheckIcon } from "./icons";
import "./field.css";

interface Props {
  label: string; // for screen readers
  isSelected: boolean;
  isIndeterminate: boolean;
  isDisabled: boolean;
  onChange(isSelected: boolean): void;
}

export function Checkbox({ label, isSelected, isIndeterminate, isDisabled, onChange }: Props) {
  return (
    <Choice
      ref={(input) => void (input && (input.indeterminate = isIndeterminate))}
      type="checkbox"
      aria-label={label}
      checked={isSelected}
      onChange={onChange}
      disabled={isDisabled}
    >
      <span className="check-box">
        {isIndeterminate ? (
          <svg width="10" height="2" viewBox="0 0 10 2" aria-hidden="true">
            <rect width="10" height="2" rx="1" fill="currentColor" />
          </svg>
        ) : (
          <CheckIcon size={14} />
        )}
      </span>
    </Choice>
  );
}
