import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Result } from "../api/call";
import { tagsQuery } from "../api/queries";
import { facetsQuery, mostTags } from "../inbox/facets";
import { Button } from "../ui/Button";
import { searchable } from "../text/searchable";
import { useChanges } from "./changes";
import { fold } from "./fold";
import { PickList, type Choice } from "./PickList";
import type { PickerProps } from "./picker";
import type { Matching, Target } from "./target";

// How many of the requests have a tag. While this is unknown, it is shown as "some". The picker does not
// change such tags unless the user chooses them.
type State = "all" | "some" | "none";
type Tags = Map<string, { tag: string; state: State }>; // by the folded tag

const shownAtOnce = 60;

// TagsPicker saves all choices as one change when it closes, so that one undo reverts them.
export function TagsPicker({ target, close, atClose }: PickerProps) {
  const [words, setWords] = useState("");
  const [set, setSet] = useState<Tags>(new Map());
  const { update } = useChanges();
  const known = useQuery(tagsQuery);

  const matching = "matching" in target ? target : undefined;
  const counts = useQuery({ ...facetsQuery(matching?.matching ?? {}), enabled: !!matching }).data?.tags;
  const before = tagsOf(target);
  const was = (key: string): State => (matching ? stateIn(matching, counts, key) : (before.get(key)?.state ?? "none"));
  const now = (key: string): State => set.get(key)?.state ?? was(key);

  atClose(() => {
    const turned = (state: State) => [...set].filter(([key, one]) => one.state === state && was(key) !== state).map(([, one]) => one.tag);
    const [add_tags, remove_tags] = [turned("all"), turned("none")];
    if (add_tags.length || remove_tags.length) {
      void update(target, { ...(add_tags.length && { add_tags }), ...(remove_tags.length && { remove_tags }) });
    }
  });

  const spelling: Tags = new Map([...before, ...set]);
  for (const { tag } of known.data ?? []) if (!spelling.has(fold(tag))) spelling.set(fold(tag), { tag, state: "none" });
  const [typed, wanted] = [fold(words), searchable(words)];
  const found = [...spelling].filter(([key]) => searchable(key).includes(wanted));
  const choices: Choice[] = found
    .slice(0, shownAtOnce)
    .map(([key, { tag }]) => ({ id: key, text: tag, part: now(key) === "some", content: tag }));
  // While the tags load, it would offer to create one that exists.
  if (typed && !known.isPending && !spelling.has(typed)) {
    choices.push({ id: typed, text: `Create ${words.trim()}`, content: <>Create “{words.trim()}”</> });
  }

  const hint = choices.some(({ part }) => part) && "A dash leaves the tag as it is on each request.";

  // From "some", it goes to "all", "none", and back to the initial state.
  function choose(key: string) {
    const next: Record<State, State> = { none: was(key) === "some" ? "some" : "all", some: "all", all: "none" };
    const tag = spelling.get(key)?.tag ?? words.trim();
    setSet(new Map(set).set(key, { tag, state: next[now(key)] }));
    setWords("");
  }

  return (
    <>
      <PickList
        label="Tags" placeholder="Find or create a tag…" words={words} onWords={setWords} maxLength={40} multiple
        choices={choices} chosen={[...spelling.keys()].filter((key) => now(key) === "all")} onChoose={choose}
        empty={known.isPending ? "Loading tags…" : known.error ? known.error.message : "No tags yet. Type to create the first one."}
      />
      <div className="picker-foot">
        <span className="quiet small">{found.length > shownAtOnce ? "Type to find more." : hint}</span>
        <Button onPress={close}>Done</Button>
      </div>
    </>
  );
}

// stateIn returns how many of the requests that match a filter have a tag. The counts leave out the filter's own tag.
function stateIn({ matching, count, atLeast }: Matching, counts: Result<"requests-facets">["tags"] | undefined, key: string): State {
  if (matching.tag && fold(matching.tag) === key) return "all";
  if (!counts || atLeast) return "some";
  const found = counts.find(({ tag }) => fold(tag) === key);
  if (!found) return counts.length < mostTags ? "none" : "some";
  return found.exact && found.count === count && !matching.tag ? "all" : "some";
}

function tagsOf(target: Target): Tags {
  const tags: Tags = new Map();
  if (!("requests" in target)) return tags;
  for (const { tags: own } of target.requests) {
    for (const tag of own) {
      const all = target.requests.every((request) => request.tags.some((other) => fold(other) === fold(tag)));
      if (!tags.has(fold(tag))) tags.set(fold(tag), { tag, state: all ? "all" : "some" });
    }
  }
  return tags;
}
