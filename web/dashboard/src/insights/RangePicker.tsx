import { type FormEvent, useState } from "react";
import { Radio, RadioGroup } from "react-aria-components";

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
      <RadioGroup
        className="segments"
        aria-label="Range"
        orientation="horizontal"
        value={selected}
        onChange={(chosen) => {
          setOpen(chosen === "own");
          if (chosen !== "own") onChange(presetDays(chosen as PresetID));
        }}
      >
        {presets.map(({ id, label }) => <Radio key={id} value={id} className="segment">{label}</Radio>)}
        <Radio value="own" className="segment">Own dates</Radio>
      </RadioGroup>
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
      <Field
        label="First day"
        type="date"
        value={typed.from}
        onChange={(from) => setTyped({ ...typed, from })}
        error={fault ?? undefined}
      />
      <Field label="Last day" type="date" value={typed.to} onChange={(to) => setTyped({ ...typed, to })} />
      <Button type="submit">Show</Button>
    </form>
  );
}
