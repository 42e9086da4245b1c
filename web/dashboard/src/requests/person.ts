import type { Comment } from "../api/types";
import type { Person } from "../inbox/search";

// What a submitter or a vote says of a person.
export type Known = { email: string | null; name: string | null; external_id: string | null; verified: boolean };

// personOf returns what identifies a person, or undefined for an anonymous one.
export function personOf({ email, name, external_id, verified }: Known): Person | undefined {
  if (!email && !name && !external_id) return undefined;
  return { ...(email && { email }), ...(name && { name }), ...(external_id && { external_id }), ...(verified && { verified }) };
}

// nameOf is what a person is called: the most telling that is known, or "" for an anonymous one.
export function nameOf({ name, email, external_id }: Partial<Known>): string {
  return name || email || external_id || "";
}

// authorName is what the author of a comment is called.
export function authorName({ name, kind }: Comment["author"]): string {
  return name ?? { submitter: "Anonymous", visitor: "Visitor", team: "Former member" }[kind];
}
