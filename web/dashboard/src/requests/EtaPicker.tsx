import { useState } from "react";
import { Input, Label, TextField } from "react-aria-components";

import { Button } from "../ui/Button";
import { searchable } from "../text/searchable";
import { useChanges } from "./changes";
import { etasFrom, etaText, typedETA } from "./eta";
import type { PickerProps } from "./picker";
import { PickList } from "./PickList";
import { shared } from "./target";

const none = "none";

// EtaPicker offers quarters and months. A day is typed, or chosen in the browser's own calendar.
export function EtaPicker({ target, close }: PickerProps) {
  const now = shared(target, (request) => request.eta); // null: they have none; undefined: they differ
  const [words, setWords] = useState("");
  const [date, setDate] = useState(now?.length === 10 ? now : "");
  const { update } = useChanges();

  function save(eta: string | null) {
    close();
    if (eta !== now) void update(target, { eta });
  }

  const typed = typedETA(words, new Date());
  const offered = [...new Set([...(now ? [now] : []), ...etasFrom(new Date())])];
  const choices = typed
    ? [{ id: typed, text: etaText(typed), content: etaText(typed) }]
    : [
        ...offered.map((eta) => ({ id: eta, text: etaText(eta), content: etaText(eta) })),
        ...(now === null ? [] : [{ id: none, text: "No ETA", content: "No ETA" }]),
      ].filter(({ text }) => searchable(text).includes(searchable(words)));
  return (
    <>
      <PickList
        label="ETA"
        placeholder="Quarter, month or day…"
        words={words}
        onWords={setWords}
        choices={choices}
        chosen={now ? [now] : []}
        onChoose={(id) => save(id === none ? null : id)}
        empty="Type a day, a month or a quarter, such as 15 March, Jun 2027 or Q3 2027."
      />
      <form
        className="picker-foot"
        onSubmit={(event) => {
          event.preventDefault();
          if (date) save(date);
        }}
      >
        <TextField type="date" value={date} onChange={setDate} className="picker-day">
          <Label>Day</Label>
          <Input className="input" min="2000-01-01" max="9999-12-31" />
        </TextField>
        <Button type="submit">Set day</Button>
      </form>
    </>
  );
}
