import { useRef, useState, type RefAttributes } from "react";
import { flushSync } from "react-dom";
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

export function Field({ label, hint, error, placeholder, rows, area, hideLabel, type, ...props }: Props) {
  const [revealed, setRevealed] = useState(false);
  return (
    <TextField {...props} type={revealed ? "text" : type!} className="field" isInvalid={!!error} validationBehavior="aria">
      <Label className={hideLabel ? "visually-hidden" : "field-label"}>{label}</Label>
      {rows ? (
        <TextArea {...area} className="input" rows={rows} placeholder={placeholder} />
      ) : type === "password" ? (
        <Password of={label} revealed={revealed} onReveal={setRevealed} />
      ) : (
        <Input className="input" placeholder={placeholder} />
      )}
      {hint && !error && <Text slot="description" className="field-hint">{hint}</Text>}
      <FieldError className="field-error">{error}</FieldError>
    </TextField>
  );
}

// Password is an input with a button that shows what was typed. The button does not take the focus
// from the input, and the cursor stays where it is.
function Password({ of, revealed, onReveal }: { of: string; revealed: boolean; onReveal(now: boolean): void }) {
  const input = useRef<HTMLInputElement>(null);
  const toggle = () => {
    const { selectionStart, selectionEnd } = input.current!;
    flushSync(() => onReveal(!revealed));
    if (document.activeElement === input.current) input.current!.setSelectionRange(selectionStart, selectionEnd);
  };
  return (
    <div className="password">
      {/* A browser's spelling service must not see the password. */}
      <Input ref={input} className="input" spellCheck={false} autoCapitalize="none" autoCorrect="off" />
      <button type="button" className="password-reveal" onMouseDown={(event) => event.preventDefault()} onClick={toggle}>
        {revealed ? "Hide" : "Show"}
        <span className="visually-hidden"> {of.toLowerCase()}</span>
      </button>
    </div>
  );
}
