import type { Params } from "./send";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type App = Schemas["App"];
export type Attachment = Schemas["Attachment"];
export type Comment = Schemas["Comment"];
export type FeatureRequest = Schemas["Request"];
export type Link = Schemas["Link"];
export type Member = Schemas["Member"];
export type Token = Schemas["Token"];
export type Webhook = Schemas["Webhook"];
export type Attempt = Schemas["Attempt"];
export type View = Schemas["View"];
export type Vote = Schemas["Vote"];
export type Status = FeatureRequest["status"];
export type Role = Member["role"];
export type Where = Omit<Params<"requests-list">, "cursor" | "limit" | "sort">;
export type Sort = NonNullable<Params<"requests-list">["sort"]>;
export type Box = NonNullable<Where["box"]>;

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
