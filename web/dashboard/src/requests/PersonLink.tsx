import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { personOf, type Known } from "./person";

// PersonLink leads to what a person asked for and voted for.
export function PersonLink({ of, children }: { of: Known; children: ReactNode }) {
  const person = personOf(of);
  if (!person) return children;
  return <Link to="/" search={{ view: "all", person }} className="person-link">{children}</Link>;
}
