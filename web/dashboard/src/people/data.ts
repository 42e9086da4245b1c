import { queryOptions } from "@tanstack/react-query";

import { ApiError, call, type Params, type Result } from "../api/call";

// Whose data it is about: a person who has one of the two.
export interface Who {
  email?: string;
  id?: string;
}

const named = ({ email, id }: Who) => ({ ...(email && { email }), ...(id && { external_id: id }) });

export type Found = Omit<Result<"people-find">, "next_cursor">;
type Paged = "people-find" | "people-erase" | "people-rectify";

// Each call handles a part of the account. all makes calls until the last one, more slowly if there are too many.
async function all<O extends Paged>(operation: O, params: Params<O>, add: (part: Result<O>) => void, signal?: AbortSignal) {
  for (let cursor = ""; ; ) {
    try {
      const part = await call(operation, cursor ? { ...(params as object), cursor } as Params<O> : params, signal);
      add(part);
      if (!(cursor = part.next_cursor)) return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * Math.max(error.retryAfter, 1)));
    }
  }
}

export const personQuery = (who: Who) =>
  queryOptions({
    queryKey: ["people", who],
    queryFn: async ({ signal }) => {
      const found: Found = { requests: [], votes: [], comments: [], held_comments: [], records: [], mentions: [], count: 0 };
      await all("people-find", named(who), (part) => {
        for (const list of ["requests", "votes", "comments", "held_comments", "records", "mentions"] as const) {
          (found[list] as unknown[]).push(...part[list]);
        }
        found.count += part.count;
      }, signal);
      return found;
    },
    enabled: !!(who.email || who.id),
    staleTime: 0,
    gcTime: 0,
  });

export type Mode = Params<"people-erase">["mode"];
type Counts = Pick<Result<"people-erase">, "requests" | "votes" | "comments" | "records">;
export type Erased = Counts & { deleted: number; kept: { id: string; title: string }[] };

const addCounts = (to: Counts, part: Counts) => {
  for (const name of ["requests", "votes", "comments", "records"] as const) to[name] += part[name];
};

export async function erase(who: Who, mode: Mode, found: Found): Promise<Erased> {
  const done: Erased = { requests: 0, votes: 0, comments: 0, records: 0, deleted: 0, kept: [] };
  const titles = new Map(found.requests.map(({ id, title }) => [id, title]));
  await all("people-erase", { ...named(who), mode, expected: found.count }, (part) => {
    addCounts(done, part);
    done.deleted += part.deleted_requests;
    done.kept.push(...part.kept.map((id) => ({ id, title: titles.get(id) ?? "A request" })));
  });
  return done;
}

export async function rectify(who: Who, name: string, email: string): Promise<void> {
  await all("people-rectify", { ...named(who), ...(name && { new_name: name }), ...(email && { new_email: email }) }, () => undefined);
}

// othersOf returns addresses and ids in the records that were not searched for, such as a second address of the person.
export function othersOf(found: Found, who: Who): Who[] {
  const same = (a: string, b: string | undefined) => a.toLowerCase() === b?.toLowerCase();
  const people = [
    ...found.requests.map(({ submitter }) => submitter),
    ...found.votes,
    ...found.comments.flatMap(({ person }) => person ?? []),
    ...found.held_comments.map(({ person }) => person),
    ...found.records,
  ];
  const emails = new Set<string>();
  const ids = new Set<string>();
  for (const { email, external_id } of people) {
    if (email && !same(email, who.email)) emails.add(email.toLowerCase());
    if (external_id && external_id !== who.id) ids.add(external_id);
  }
  return [...[...emails].map((email) => ({ email })), ...[...ids].map((id) => ({ id }))];
}
