import { Link } from "@tanstack/react-router";

import type { FeatureRequest } from "../api/types";
import { StatusMark } from "../ui/marks";
import { useStatusName } from "../requests/statuses";
import type { Search } from "../inbox/search";
import type { Ranking } from "./ranking";

// Headline says what people want most.
export function Headline({ ranking, search }: { ranking: Ranking; search: Search }) {
  const nameOf = useStatusName();
  const [first, second] = ranking.requests;
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
    </div>
  );
}

function RequestLink({ request, search }: { request: FeatureRequest; search: Search }) {
  return <Link to="/" search={{ ...search, sort: "most_voted", request: request.id }}>{request.title}</Link>;
}
