import type { Box, Request as FeatureRequest, Role, Status } from "../../../../clients/ts/src/client";
import type { Params } from "./send";

export type {
  App, Attachment, Attempt, Comment, Link, Member, Template, Token, Unsent, View, Vote, Webhook,
} from "../../../../clients/ts/src/client";
export type { Box, FeatureRequest, Role, Status };
export type Where = Omit<Params<"requests-list">, "cursor" | "limit" | "sort">;
// The orders that the dashboard offers. It cannot sort rows by trending itself, because they do not say when votes came.
export type Sort = Exclude<NonNullable<Params<"requests-list">["sort"]>, "trending">;

// The names of the statuses, in the order of the workflow.
export const statusNames: Record<Status, string> = {
  opened: "Open",
  under_review: "Under review",
  planned: "Planned",
  in_progress: "In progress",
  completed: "Completed",
  declined: "Declined",
  duplicate: "Duplicate",
};

// The statuses of requests that are still to be decided or built.
export const unfinished = ["opened", "under_review", "planned", "in_progress"] satisfies Status[];

// The statuses of requests that nobody has decided on yet.
export const undecided = ["opened", "under_review"] satisfies Status[];

// The statuses that users can set. Merging sets duplicate.
export const choosableStatuses = ["opened", "under_review", "planned", "in_progress", "completed", "declined"] as const;
