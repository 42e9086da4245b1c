import { Link } from "@tanstack/react-router";
import { Fragment } from "react";

import type { FeatureRequest } from "../api/types";
import { StatusMark } from "../ui/marks";
import { useStatusName } from "../requests/statuses";
import type { Search } from "../inbox/search";
import type { Ranking } from "./ranking";

interface Props {
  ranking: Ranking;
  trending: FeatureRequest[];
  search: Search;
}

// Headline says what people want most, of all time and lately.
export function Headline({ ranking, trending, search }: Props) {
  const nameOf = useStatusName();
  const [first, second] = ranking.requests;
  const others = first ? trending.filter(({ id, votes }) => votes > 1 && id !== first.id && id !== second?.id).slice(0, 3) : [];
  return (
    <div className="headline">
      <h2 className="headline-question">What do people want most?</h2>
      <p className="headline-answer">
        {ranking.before}
        {first && <RequestLink request={first} search={search} />}
        {second && (ranking.before ? ", " : " and ")}
        {second && <RequestLink request={second} search={search} />}
        {ranking.after}
      </p>
      {first && !second && <StatusMark status={first.status} name={nameOf(first.status, first.app_id)} />}
      {others.length > 0 && (
        <p className="headline-trending">
          <span className="quiet">Trending: </span>
          {others.map((request, i) => (
            <Fragment key={request.id}>{i > 0 && " · "}<RequestLink request={request} search={search} /></Fragment>
          ))}
        </p>
      )}
    </div>
  );
}

function RequestLink({ request, search }: { request: FeatureRequest; search: Search }) {
  return <Link to="/" search={{ ...search, sort: "most_voted", request: request.id }}>{request.title}</Link>;
}
