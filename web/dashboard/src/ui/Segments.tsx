import { useId } from "react";

import { Choice } from "./choices";
import "./segments.css";

interface Props<T extends string> {
  label: string;
  value: T;
  options: readonly { id: T; name: string }[];
  onChange(id: T): void;
}

// Segments is a choice of one of a few, which stand side by side.
export function Segments<T extends string>({ label, value, options, onChange }: Props<T>) {
  const group = useId();
  return (
    <div className="segments" role="radiogroup" aria-label={label}>
      {options.map(({ id, name }) => (
        <Choice key={id} type="radio" name={group} className="segment" checked={id === value} onChange={() => onChange(id)}>
          {name}
        </Choice>
      ))}
    </div>
  );
}
