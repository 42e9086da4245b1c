import { type FormEvent, useState } from "react";

import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { Segments } from "../ui/Segments";
import { type Days, rangeError, inWords, presetDays, presetOf, presets } from "./range";

// RangePicker selects a preset or a custom range of days.
export function RangePicker({ days, onChange }: { days: Days; onChange(days: Days): void }) {
  const [open, setOpen] = useState(false);
  const preset = presetOf(days);
  const selected = open || !preset ? "custom" : preset;
  return (
    <div className="range">
      <Segments
        label="Range"
        value={selected}
        options={[...presets, { id: "custom", name: "Custom range" }]}
        onChange={(id) => {
          setOpen(id === "custom");
          if (id !== "custom") onChange(presetDays(id));
        }}
      />
      {selected === "custom" && <CustomRange key={inWords(days)} days={days} onChange={onChange} />}
    </div>
  );
}

function CustomRange({ days, onChange }: { days: Days; onChange(days: Days): void }) {
  const [typed, setTyped] = useState(days);
  const [error, setError] = useState<string | null>(null);

  function submit(event: FormEvent) {
    event.preventDefault();
    const found = rangeError(typed);
    setError(found);
    if (!found) onChange(typed);
  }

  return (
    <form className="custom-range" onSubmit={submit} noValidate>
      <Field
        label="Start date"
        type="date"
        value={typed.from}
        onChange={(from) => setTyped({ ...typed, from })}
        error={error ?? undefined}
      />
      <Field label="End date" type="date" value={typed.to} onChange={(to) => setTyped({ ...typed, to })} />
      <Button type="submit">Apply</Button>
    </form>
  );
}
