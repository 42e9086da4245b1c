import type { FeatureRequest } from "../api/types";
import { count, number } from "../ui/marks";

// A Ranking names the unfinished requests with the most votes, with text before and after them.
export interface Ranking {
  before: string;
  requests: FeatureRequest[];
  after: string;
}

// rankingOf takes unfinished requests, those with the most votes first.
export function rankingOf(byVotes: FeatureRequest[]): Ranking {
  const [first, second, third] = byVotes;
  if (!first) return sentence("There are no open requests.");
  if (first.votes < 2) return sentence(second ? "No request stands out yet." : "There is only one open request.");
  const votes = count(first.votes, "vote");
  if (!second || first.votes > second.votes) {
    return {
      before: "",
      requests: [first],
      after: ` has ${votes}${second ? `, ${number(first.votes - second.votes)} more than the next request` : ""}.`,
    };
  }
  if (third?.votes === first.votes) {
    return { before: `Several requests lead with ${votes} each: `, requests: [first, second], after: " and others." };
  }
  return { before: "", requests: [first, second], after: ` lead with ${votes} each.` };
}

const sentence = (after: string): Ranking => ({ before: "", requests: [], after });
