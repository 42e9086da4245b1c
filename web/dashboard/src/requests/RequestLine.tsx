import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { StatusMark, count, number } from "../ui/marks";
import { VoteIcon } from "../ui/icons";
import type { Row } from "./rows";

// RequestLine links to another request.
export function RequestLine({ request, children }: { request: Pick<Row, "id" | "title" | "status" | "votes">; children?: ReactNode }) {
  return (
    <li className="line">
      <StatusMark status={request.status} dotOnly />
      <Link to="/" search={(search) => ({ ...search, request: request.id })} className="line-title">
        {request.title}
      </Link>
      <span className="line-votes quiet number">
        <VoteIcon size={14} />
        <span aria-hidden="true">{number(request.votes)}</span>
        <span className="visually-hidden">{count(request.votes, "vote")}</span>
      </span>
      {children}
    </li>
  );
}
