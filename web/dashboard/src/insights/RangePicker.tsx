import { type FormEvent, useState } from "react";
import { ToggleButton, ToggleButtonGroup } from "react-aria-components";

import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { type Days, faultOf, inWords, presetDays, presetOf, presets, type PresetID } from "./range";

// The range that is counted: one of the usual ones, or dates of one's own.
export function RangePicker({ days, onChange }: { days: Days; onChange(days: Days): void }) {
  const [open, setOpen] = useState(false);
  const preset = presetOf(days);
  const selected = open || !preset ? "own" : preset;
  return (
    <div className="range">
      <ToggleButtonGroup
        className="segments"
        aria-label="Range"
        selectionMode="single"
        disallowEmptySelection
        selectedKeys={[selected]}
        onSelectionChange={(keys) => {
          const [key] = keys;
          setOpen(key === "own");
          if (key !== "own") onChange(presetDays(key as PresetID));
        }}
      >
        {presets.map(({ id, label }) => (
          <ToggleButton key={id} id={id} className="segment">{label}</ToggleButton>
        ))}
        <ToggleButton id="own" className="segment">Own dates</ToggleButton>
      </ToggleButtonGroup>
      {selected === "own" && <OwnDates key={inWords(days)} days={days} onChange={onChange} />}
    </div>
  );
}

function OwnDates({ days, onChange }: { days: Days; onChange(days: Days): void }) {
  const [typed, setTyped] = useState(days);
  const [fault, setFault] = useState<string | null>(null);

  function submit(event: FormEvent) {
    event.preventDefault();
    const found = faultOf(typed);
    setFault(found);
    if (!found) onChange(typed);
  }

  return (
    <form className="own-dates" onSubmit={submit} noValidate>
      <Field label="First day" type="date" value={typed.from} onChange={(from) => setTyped({ ...typed, from })} error={fault ?? undefined} />
      <Field label="Last day" type="date" value={typed.to} onChange={(to) => setTyped({ ...typed, to })} />
      <Button type="submit">Show</Button>
    </form>
  );
}
