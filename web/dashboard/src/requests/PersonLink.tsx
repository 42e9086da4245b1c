import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { Person } from "../inbox/search";

type Known = { email: string | null; name: string | null; external_id: string | null; verified: boolean };

// personOf returns what identifies a person, or undefined for an anonymous one.
export function personOf({ email, name, external_id, verified }: Known): Person | undefined {
  if (!email && !name && !external_id) return undefined;
  return { ...(email && { email }), ...(name && { name }), ...(external_id && { external_id }), ...(verified && { verified }) };
}

// PersonLink leads to what a person asked for and voted for.
export function PersonLink({ of, children }: { of: Known; children: ReactNode }) {
  const person = personOf(of);
  if (!person) return children;
  return <Link to="/" search={{ view: "all", person }} className="person-link">{children}</Link>;
}
