import { Field } from "../ui/Field";

interface Props {
  label: string;
  hint: string;
  value: string[];
  onChange(value: string[]): void;
  error: string | undefined;
  isDisabled: boolean;
}

// Lines edits a list of texts, one a line.
export function Lines({ value, onChange, ...rest }: Props) {
  const change = (text: string) => onChange(text ? text.split("\n") : []);
  return <Field {...rest} rows={3} value={value.join("\n")} onChange={change} spellCheck="false" />;
}
