import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { StatusMark, count, number } from "../ui/marks";
import { VoteIcon } from "../ui/icons";
import type { Row } from "./rows";
import { useStatusName } from "./statuses";

interface Props {
  request: Pick<Row, "id" | "title" | "status" | "votes">;
  app: string; // the id
  children?: ReactNode;
}

// RequestLine links to another request.
export function RequestLine({ request, app, children }: Props) {
  const nameOf = useStatusName();
  return (
    <li className="line">
      <StatusMark status={request.status} name={nameOf(request.status, app)} dotOnly />
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
