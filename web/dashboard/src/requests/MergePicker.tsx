import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { statusNames } from "../api/types";
import { Button } from "../ui/Button";
import { VoteIcon } from "../ui/icons";
import { count, number, StatusMark } from "../ui/marks";
import { notifyError } from "../ui/notices";
import { useSettled } from "../ui/useSettled";
import { useChanges } from "./changes";
import { searchQuery, similarQuery } from "./details";
import { PickList, type Choice } from "./PickList";
import type { PickerProps } from "./picker";
import { requestQuery, type Row } from "./rows";

type Found = Pick<Row, "id" | "title" | "status" | "votes">;

export function MergePicker({ target, close }: PickerProps) {
  const requests = "requests" in target ? target.requests : [];
  const [first] = requests;
  const refusal = whyNot(requests);
  if (first && !refusal) return <Chooser requests={requests} first={first} close={close} />;
  return (
    <div className="picker-form">
      <p>{refusal}</p>
      <div className="picker-foot"><Button onPress={close}>Close</Button></div>
    </div>
  );
}

function whyNot(requests: Row[]): string | undefined {
  const [first] = requests;
  if (!first) return "All that match a filter cannot be merged at once. Select those that say the same.";
  if (requests.some((request) => request.app_id !== first.app_id)) {
    return "These requests are of different apps. Only requests of the same app can be merged.";
  }
  if (requests.every((request) => request.merged_into_id)) {
    return requests.length === 1
      ? "This request is merged into another one already. Take it out of that one first."
      : "These requests are merged already. Take them out first.";
  }
  return undefined;
}

// One request goes into a similar one, or into one that is searched for. Of several, one
// stays and the others go into it, unless another one is searched for.
function Chooser({ requests, first, close }: { requests: Row[]; first: Row; close(): void }) {
  const [words, setWords] = useState("");
  const settled = useSettled(words.trim());
  const { merge } = useChanges();
  const client = useQueryClient();
  const several = requests.length > 1;
  const similar = useQuery({ ...similarQuery(first.id), enabled: !several });
  const searched = useQuery({ ...searchQuery(first.app_id, settled), enabled: settled !== "", placeholderData: keepPreviousData });

  const selected = [...requests].sort((a, b) => b.votes - a.votes);
  const proposed: Found[] = several ? selected : (similar.data ?? []);
  const hits = (searched.data ?? []).filter((hit) => !hit.merged_into_id && (several || hit.id !== first.id));
  const found = words.trim() ? hits : proposed;
  const asked = words.trim() ? searched : similar;

  async function choose(id: string) {
    close();
    try {
      const into = requests.find((request) => request.id === id) ?? (await client.fetchQuery(requestQuery(id)));
      await merge(requests.map((request) => request.id).filter((one) => one !== id), into);
    } catch (error) {
      notifyError(error, "The requests were not merged.");
    }
  }

  const label = several ? "Which one stays? The others are merged into it" : "Merge into";
  const choices: Choice[] = found.map((hit) => ({
    id: hit.id,
    text: `${hit.title}, ${statusNames[hit.status]}, ${count(hit.votes, "vote")}`,
    content: (
      <span className="picker-request">
        <StatusMark status={hit.status} bare />
        <span className="picker-title">{hit.title}</span>
        <span className="picker-votes quiet number">
          <VoteIcon size={14} />
          {number(hit.votes)}
        </span>
      </span>
    ),
  }));
  return (
    <>
      <p className="picker-caption" aria-hidden="true">
        {several ? "Which one stays? The others are merged into it." : words.trim() ? "Merge into…" : "Similar requests"}
      </p>
      <PickList
        label={label}
        placeholder="Search by words…"
        words={words}
        onWords={setWords}
        maxLength={200}
        choices={choices}
        chosen={[]}
        numbers
        loading={asked.isLoading}
        onChoose={(id) => void choose(id)}
        empty={
          asked.isLoading
            ? "Looking…"
            : asked.error
              ? asked.error.message
              : words.trim()
                ? "Nothing has all of these words."
                : "Nothing similar was found. Type to search."
        }
      />
    </>
  );
}
