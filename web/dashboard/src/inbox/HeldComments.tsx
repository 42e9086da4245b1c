import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, type KeyboardEvent } from "react";

import { ApiError, call } from "../api/call";
import { onChange } from "../api/feed";
import { useSession } from "../api/session";
import { nameOf } from "../requests/person";
import { PersonLink } from "../requests/PersonLink";
import { More, Waiting } from "../requests/Section";
import { Verified } from "../requests/Submitter";
import { isCharacter, keyOf } from "../shell/commands";
import { currentSettings } from "../shell/settings";
import { Button } from "../ui/Button";
import { number, Time } from "../ui/marks";
import { notify, notifyError } from "../ui/notices";
import { heldQuery } from "./held";
import "./held.css";

const does = {
  release: { name: "Release", done: "Comment released.", call: (id: string) => call("comments-release", { id }) },
  remove: { name: "Delete", done: "Comment deleted.", call: (id: string) => call("comments-block", { id }) },
  block: {
    name: "Delete and block",
    done: "Comment deleted, and its author blocked.",
    call: (id: string) => call("comments-block", { id, person: true }),
  },
} as const;

// The keys are those of requests in quarantine.
const keys: Record<string, keyof typeof does> = { r: "release", "#": "remove", Delete: "remove" };
const steps: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

// HeldComments are the comments on portals that wait for the team.
export function HeldComments({ app }: { app: string | undefined }) {
  const held = useInfiniteQuery(heldQuery(app));
  const client = useQueryClient();
  const member = useSession().can("member");
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => onChange(() => void client.invalidateQueries({ queryKey: ["comments", "held"] })), [client]);
  const comments = held.data?.pages.flatMap((page) => page.comments) ?? [];
  const items = () => [...(list.current?.children ?? [])] as HTMLElement[];

  async function act(id: string, what: keyof typeof does) {
    const at = comments.findIndex((comment) => comment.id === id);
    try {
      await does[what].call(id);
      notify(does[what].done);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) return notifyError(error); // otherwise somebody was faster
    }
    await client.invalidateQueries({ queryKey: ["comments", "held"] });
    const left = items();
    (left[Math.min(at, left.length - 1)] ?? document.getElementById("main"))?.focus(); // the focused comment is gone
  }

  function press(event: KeyboardEvent<HTMLElement>, id: string, at: number) {
    const key = keyOf(event.nativeEvent);
    if (isCharacter(key) && !currentSettings().shortcuts) return;
    const what = keys[key];
    const step = steps[key];
    if (what && member) void act(id, what);
    else if (step) items()[at + step]?.focus();
    else return;
    event.preventDefault(); // otherwise it is a key of the list of requests
  }

  if (held.data && comments.length === 0) return null;
  return (
    <section className="held" aria-label="Held comments">
      <h2>Held comments {held.data && <span className="quiet number">{number(held.data.pages[0]!.total_count)}</span>}</h2>
      <Waiting query={held} />
      <ul ref={list} aria-label="Held comments">
        {comments.map(({ id, request_id, title, person, body, created_at }, at) => (
          <li key={id} tabIndex={0} aria-label={`Comment on ${title}`} onKeyDown={(event) => press(event, id, at)}>
            <p className="small">
              <PersonLink of={person}>{nameOf(person) || "Visitor"}</PersonLink> {person.verified && <Verified />}{" "}
              <span className="quiet">
                on <Link to="/" search={(search) => ({ ...search, request: request_id })}>{title}</Link> <Time at={created_at} />
              </span>
            </p>
            <p className="prose">{body}</p>
            {member && (
              <div className="row">
                {(Object.keys(does) as (keyof typeof does)[]).map((what) => (
                  <Button key={what} small onPress={() => void act(id, what)}>{does[what].name}</Button>
                ))}
              </div>
            )}
          </li>
        ))}
      </ul>
      <More query={held}>Show more comments</More>
    </section>
  );
}
