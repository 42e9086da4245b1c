import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { call } from "../api/call";
import type { FeatureRequest } from "../api/types";
import { Button } from "../ui/Button";
import { CloseIcon, MoreIcon, PlusIcon } from "../ui/icons";
import { Avatar, Time } from "../ui/marks";
import { Menu, MenuItem } from "../ui/Menu";
import { notify, notifyError } from "../ui/notices";
import { AddVote } from "./AddVote";
import { DiscardVotes } from "./DiscardVotes";
import { votesOfPage, votesQuery, type NewVote } from "./details";
import { place } from "./lists";
import { nameOf, personOf } from "./person";
import { PersonLink } from "./PersonLink";
import { Verified } from "./Submitter";
import { requestQuery, rowOf } from "./rows";
import { More, Section, Waiting } from "./Section";

export function Voters({ request, editable }: { request: FeatureRequest; editable: boolean }) {
  const [open, setOpen] = useState<"add" | "discard">();
  const votes = useInfiniteQuery(votesQuery(request.id));
  const client = useQueryClient();
  const voters = votes.data?.pages.flatMap((page) => page.votes) ?? [];

  // counted shows the number of votes that the service returned.
  function counted(number: number) {
    const now = client.getQueryData(requestQuery(request.id).queryKey) ?? request;
    client.setQueryData(requestQuery(request.id).queryKey, { ...now, votes: number });
    place([{ ...rowOf(now), votes: number }], undefined);
    for (const kind of ["votes", "history"]) void client.invalidateQueries({ queryKey: ["requests", kind, request.id] });
  }

  async function add(vote: NewVote) {
    counted((await call("votes-add", { request_id: request.id, ...vote })).votes);
  }

  async function remove(vote: NewVote, name: string) {
    const { why: _, ...person } = vote;
    try {
      counted((await call("votes-remove", { request_id: request.id, ...person })).votes);
      notify(`Removed the vote of ${name}.`, { undo: () => void add(vote).catch((error) => notifyError(error)) });
    } catch (error) {
      notifyError(error, "Could not remove the vote.");
    }
  }

  return (
    <Section
      title="Votes"
      count={request.votes}
      action={
        editable && (
          <span className="row">
            <Button small kind="quiet" onPress={() => setOpen("add")}>
              <PlusIcon size={16} />
              Add vote
            </Button>
            <Menu label="Votes" button={<Button small kind="quiet" icon aria-label="More about votes"><MoreIcon size={16} /></Button>}>
              <MenuItem onAction={() => setOpen("discard")}>Discard votes without sign-in…</MenuItem>
            </Menu>
          </span>
        )
      }
    >
      <Waiting query={votes} lines={Math.min(request.votes, votesOfPage)} />
      {votes.data && voters.length === 0 && <p className="quiet small">No votes yet</p>}
      <ul className="lines">
        {voters.map((vote, i) => {
          // Votes of verified and of anonymous people cannot be removed here.
          const known = vote.verified ? undefined : personOf(vote);
          const person = known && { ...known, ...(vote.why && { why: vote.why }) };
          const name = nameOf(vote) || "Anonymous";
          return (
            <li key={i} className="line">
              <Avatar name={name} />
              <span className="line-title">
                <PersonLink of={vote}>{name}</PersonLink>
                {vote.name && vote.email && <span className="quiet"> {vote.email}</span>}
                {vote.verified && (
                  <>
                    {" "}
                    <Verified />
                  </>
                )}
                {vote.request_id !== request.id && <span className="quiet small"> via a merged request</span>}
                {vote.why && <q className="why" dir="auto">{vote.why}</q>}
              </span>
              <span className="quiet small">
                <Time at={vote.created_at} />
              </span>
              {editable && person && (
                <Button small kind="quiet" icon aria-label={`Remove the vote of ${name}`} onPress={() => void remove(person, name)}>
                  <CloseIcon size={16} />
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      <More query={votes}>Show more votes</More>
      <AddVote isOpen={open === "add"} onClose={() => setOpen(undefined)} onAdd={add} />
      {open === "discard" && (
        <DiscardVotes
          id={request.id}
          onClose={() => setOpen(undefined)}
          onDone={async () => counted((await call("requests-get", { id: request.id })).request.votes)}
        />
      )}
    </Section>
  );
}
