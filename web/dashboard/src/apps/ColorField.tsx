import { Field } from "../ui/Field";
import { contrastHint, isColor, readColor } from "./contrast";

interface Props {
  value: string;
  onChange(value: string): void;
  error: string | undefined;
  isDisabled: boolean;
}

export function ColorField({ value, onChange, error, isDisabled }: Props) {
  return (
    <div className="color-field">
      <input
        type="color"
        className="color-well"
        aria-label="Pick a color"
        value={isColor(value) ? value : "#000000"}
        onChange={(event) => onChange(event.target.value.toUpperCase())}
        disabled={isDisabled}
      />
      <Field
        label="Color"
        value={value}
        onChange={onChange}
        onBlur={() => onChange(readColor(value))}
        error={error}
        hint={isColor(value) ? contrastHint(value) : "Enter a hex code such as #4F46E5."}
        isDisabled={isDisabled}
        spellCheck="false"
        autoComplete="off"
      />
    </div>
  );
}
