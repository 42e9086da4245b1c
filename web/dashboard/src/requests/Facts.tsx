import type { FeatureRequest } from "../api/types";
import { count, Time } from "../ui/marks";
import { nameOf } from "./person";
import { PersonLink } from "./PersonLink";
import { Verified } from "./Submitter";

const sources: Record<FeatureRequest["source"], string> = {
  widget: "via widget",
  portal: "via portal",
  dashboard: "via dashboard",
  api: "via API",
  import: "via import",
};

// Facts says who sent a request, how many want it, and when and how it arrived.
export function Facts({ request }: { request: FeatureRequest }) {
  const { submitter, votes, created_at, source } = request;
  return (
    <p className="request-facts">
      <span><PersonLink of={submitter}>{nameOf(submitter) || "Anonymous"}</PersonLink>{submitter.verified && <> <Verified /></>}</span>
      <span className="number">{count(votes, "vote")}</span>
      <span className="quiet"><Time at={created_at} /> {sources[source]}</span>
    </p>
  );
}
