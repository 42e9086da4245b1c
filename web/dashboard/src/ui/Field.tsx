import type { RefAttributes } from "react";
import { FieldError, Input, Label, Text, TextArea, TextField, type TextAreaProps, type TextFieldProps } from "react-aria-components";

import "./field.css";

interface Props extends Omit<TextFieldProps, "className" | "style" | "children"> {
  label: string;
  hint?: string | undefined;
  // What is wrong with the value.
  error?: string | undefined;
  placeholder?: string;
  // Makes it a text area with this many rows.
  rows?: number;
  // Further properties of the text area.
  area?: TextAreaProps & RefAttributes<HTMLTextAreaElement>;
  // Shows the label to screen readers only.
  hideLabel?: boolean;
}

export function Field({ label, hint, error, placeholder, rows, area, hideLabel, ...props }: Props) {
  return (
    <TextField {...props} className="field" isInvalid={!!error} validationBehavior="aria">
      <Label className={hideLabel ? "visually-hidden" : "field-label"}>{label}</Label>
      {rows ? (
        <TextArea {...area} className="input" rows={rows} placeholder={placeholder} />
      ) : (
        <Input className="input" placeholder={placeholder} />
      )}
      {hint && !error && <Text slot="description" className="field-hint">{hint}</Text>}
      <FieldError className="field-error">{error}</FieldError>
    </TextField>
  );
}
