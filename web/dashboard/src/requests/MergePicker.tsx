import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { Button } from "../ui/Button";
import { VoteIcon } from "../ui/icons";
import { count, number, StatusMark } from "../ui/marks";
import { notifyError } from "../ui/notices";
import { useDebounced } from "../ui/useDebounced";
import { subject } from "./carry";
import { useChanges } from "./changes";
import { searchQuery, similarQuery } from "./details";
import { PickList, type Choice } from "./PickList";
import type { PickerProps } from "./picker";
import { requestQuery, rowOf } from "./rows";
import { useStatusName } from "./statuses";
import { PickerAudience } from "./SeenBy";
import type { Targeted } from "./target";

type Found = Pick<Targeted, "id" | "title" | "status" | "votes">;

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

function whyNot(requests: Targeted[]): string | undefined {
  const [first] = requests;
  if (!first) return "You cannot merge all requests that match a filter. Select the duplicates instead.";
  if (requests.some((request) => request.app_id !== first.app_id)) {
    return "These requests belong to different apps. You can only merge requests of the same app.";
  }
  if (requests.every((request) => request.merged_into_id)) {
    return requests.length === 1
      ? "This request is already merged. Unmerge it first."
      : "These requests are already merged. Unmerge them first.";
  }
  return undefined;
}

// Chooser merges a single request into a similar one or into a search result. It merges several
// requests into one of them or into a search result.
function Chooser({ requests, first, close }: { requests: Targeted[]; first: Targeted; close(): void }) {
  const [words, setWords] = useState("");
  const debounced = useDebounced(words.trim());
  const [quiet, setQuiet] = useState(false);
  const { merge } = useChanges();
  const client = useQueryClient();
  const several = requests.length > 1;
  const similar = useQuery({ ...similarQuery(first.id), enabled: !several });
  const searched = useQuery({ ...searchQuery(first.app_id, debounced), enabled: debounced !== "", placeholderData: keepPreviousData });

  const selected = [...requests].sort((a, b) => b.votes - a.votes);
  const proposed: Found[] = several ? selected : (similar.data ?? []);
  const hits = (searched.data ?? []).filter((hit) => !hit.merged_into_id && (several || hit.id !== first.id));
  const found = words.trim() ? hits : proposed;
  const asked = words.trim() ? searched : similar;

  async function choose(id: string) {
    close();
    try {
      const into = requests.find((request) => request.id === id) ?? (await client.fetchQuery(requestQuery(id)));
      await merge(requests.map((request) => request.id).filter((one) => one !== id), into, quiet);
    } catch (error) {
      notifyError(error, "Could not merge the requests.");
    }
  }

  const nameOf = useStatusName();
  const label = several ? "Choose the request to keep" : "Merge into";
  const choices: Choice[] = found.map((hit) => ({
    id: hit.id,
    text: `${hit.title}, ${nameOf(hit.status, first.app_id)}, ${count(hit.votes, "vote")}`,
    content: (
      <span className="picker-request">
        <StatusMark status={hit.status} dotOnly />
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
        {several ? "Choose the request to keep. The others merge into it." : `Merge ${subject([rowOf(first)])} into:`}
      </p>
      <PickList
        label={label}
        placeholder="Search requests…"
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
            ? "Searching…"
            : asked.error
              ? asked.error.message
              : words.trim()
                ? "No matching requests"
                : "No similar requests. Type to search."
        }
        foot={<PickerAudience target={{ requests }} quiet={quiet} onQuiet={setQuiet} />}
      />
    </>
  );
}
