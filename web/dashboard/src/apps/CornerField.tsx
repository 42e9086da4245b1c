import { useId } from "react";

import type { App } from "../api/types";
import { Choice } from "../ui/choices";

type Corner = App["settings"]["widget"]["position"];

const corners: { id: Corner; name: string }[] = [
  { id: "top-left", name: "Top left" },
  { id: "top-right", name: "Top right" },
  { id: "bottom-left", name: "Bottom left" },
  { id: "bottom-right", name: "Bottom right" },
];

// CornerField selects a corner on a small picture of a page.
export function CornerField({ value, onChange, isDisabled }: { value: Corner; onChange(value: Corner): void; isDisabled: boolean }) {
  const group = useId();
  return (
    <div className="field" role="radiogroup" aria-labelledby={group}>
      <span id={group} className="field-label">Position</span>
      <div className="corners">
        {corners.map(({ id, name }) => (
          <Choice
            key={id}
            type="radio"
            name={group}
            className={`corner corner-${id}`}
            checked={id === value}
            onChange={() => onChange(id)}
            disabled={isDisabled}
          >
            <span className="corner-mark" />
            <span className="small">{name}</span>
          </Choice>
        ))}
      </div>
    </div>
  );
}
