import { Link } from "@tanstack/react-router";

import type { FeatureRequest } from "../api/types";
import { StatusMark } from "../ui/marks";
import type { Search } from "../inbox/search";
import type { Lead } from "./lead";

// The answer to what people want most, in words.
export function Headline({ lead, search }: { lead: Lead; search: Search }) {
  const [first, second] = lead.ideas;
  return (
    <div className="headline">
      <h2 className="headline-question">What do people want most?</h2>
      <p className="headline-answer">
        {lead.before}
        {first && <Idea request={first} search={search} />}
        {second && (lead.before ? ", " : " and ")}
        {second && <Idea request={second} search={search} />}
        {lead.after}
      </p>
      {first && !second && <StatusMark status={first.status} />}
    </div>
  );
}

function Idea({ request, search }: { request: FeatureRequest; search: Search }) {
  return <Link to="/" search={{ ...search, sort: "most_voted", request: request.id }}>{request.title}</Link>;
}
