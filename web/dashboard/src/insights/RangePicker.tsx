import { type FormEvent, useId, useState } from "react";

import { Button } from "../ui/Button";
import { Choice } from "../ui/choices";
import { Field } from "../ui/Field";
import { type Days, rangeError, inWords, presetDays, presetOf, presets } from "./range";

// RangePicker selects a preset or a custom range of days.
export function RangePicker({ days, onChange }: { days: Days; onChange(days: Days): void }) {
  const group = useId();
  const [open, setOpen] = useState(false);
  const preset = presetOf(days);
  const selected = open || !preset ? "custom" : preset;
  return (
    <div className="range">
      <div className="segments" role="radiogroup" aria-label="Range">
        {[...presets, { id: "custom" as const, label: "Custom range" }].map(({ id, label }) => (
          <Choice
            key={id}
            type="radio"
            name={group}
            className="segment"
            checked={id === selected}
            onChange={() => {
              setOpen(id === "custom");
              if (id !== "custom") onChange(presetDays(id));
            }}
          >
            {label}
          </Choice>
        ))}
      </div>
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
