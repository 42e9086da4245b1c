import type { FeatureRequest } from "../api/types";
import { number } from "../ui/marks";
import { peopleCount } from "./numbers";

// What people want most: the ideas that lead, and what to say before and after them.
export interface Lead {
  before: string;
  ideas: FeatureRequest[];
  after: string;
}

export function leadOf(byVotes: FeatureRequest[], total: number): Lead {
  const [first, second, third] = byVotes;
  if (!first || first.votes < 2) {
    const after =
      total === 1
        ? "One idea has come in so far."
        : `No idea stands out yet: none of the ${number(total)} has more than one person behind it.`;
    return { before: "", ideas: [], after };
  }
  const people = peopleCount(first.votes);
  if (!second || first.votes > second.votes) {
    return {
      before: "",
      ideas: [first],
      after: `. ${people} are behind it${second ? `, ${number(first.votes - second.votes)} more than behind the next` : ""}.`,
    };
  }
  if (third?.votes === first.votes) {
    return { before: `Several ideas lead, with ${people} each: `, ideas: [first, second], after: " and others." };
  }
  return { before: "", ideas: [first, second], after: `. ${people} are behind each.` };
}
