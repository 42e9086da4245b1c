import { Label, Radio, RadioGroup } from "react-aria-components";

import type { App } from "../api/types";

type Corner = App["settings"]["widget"]["position"];

const corners: { id: Corner; name: string }[] = [
  { id: "top-left", name: "Top left" },
  { id: "top-right", name: "Top right" },
  { id: "bottom-left", name: "Bottom left" },
  { id: "bottom-right", name: "Bottom right" },
];

// CornerField selects a corner on a small picture of a page.
export function CornerField({ value, onChange, isDisabled }: { value: Corner; onChange(value: Corner): void; isDisabled: boolean }) {
  return (
    <RadioGroup className="field" value={value} onChange={(next) => onChange(next as Corner)} isDisabled={isDisabled}>
      <Label className="field-label">Position</Label>
      <div className="corners">
        {corners.map(({ id, name }) => (
          <Radio key={id} value={id} className={`corner corner-${id}`}>
            <span className="corner-mark" />
            <span className="small">{name}</span>
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}
