import { useState } from "react";

import { choosableStatuses, type Status } from "../api/types";
import { StatusMark } from "../ui/marks";
import { searchable } from "../text/searchable";
import { useChanges } from "./changes";
import { PickList } from "./PickList";
import { usePicker, type PickerProps } from "./picker";
import { PickerAudience } from "./SeenBy";
import { useStatusName } from "./statuses";
import { shared } from "./target";

export function StatusPicker({ target, close }: PickerProps) {
  const [words, setWords] = useState("");
  const [quiet, setQuiet] = useState(false);
  const { update } = useChanges();
  const pick = usePicker();
  const nameOf = useStatusName();
  const app = shared(target, (request) => request.app_id);
  const now = shared(target, (request) => request.status);
  // For a duplicate, the next picker asks for the original.
  const statuses: Status[] = "requests" in target ? [...choosableStatuses, "duplicate"] : [...choosableStatuses];

  function choose(id: string) {
    close();
    const status = statuses.find((one) => one === id);
    if (!status || status === now) return;
    if (status === "duplicate") pick("merge", target);
    else void update(target, { status }, quiet);
  }

  const choices = statuses
    .filter((status) => searchable(nameOf(status, app)).includes(searchable(words)))
    .map((status) => {
      const text = status === "duplicate" ? "Duplicate of…" : nameOf(status, app);
      return {
        id: status,
        text,
        content:
          status === "duplicate" ? (
            <span className="status status-duplicate">
              <span className="status-dot" />
              {text}
            </span>
          ) : (
            <StatusMark status={status} name={text} />
          ),
      };
    });
  return (
    <PickList
      label="Status"
      placeholder="Set status to…"
      words={words}
      onWords={setWords}
      choices={choices}
      chosen={now ? [now] : []}
      numbers
      onChoose={choose}
      empty="No matching status"
      foot={<PickerAudience target={target} quiet={quiet} onQuiet={setQuiet} />}
    />
  );
}
