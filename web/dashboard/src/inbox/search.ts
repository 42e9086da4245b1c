import { statusNames, type Box, type Sort, type Status, type Where } from "../api/types";

// Search is the state of the inbox in its address: the filter, the order and the open request.
export interface Search {
  app?: string;
  status?: Status[];
  tag?: string;
  assignee?: string; // an id, or "none"
  source?: NonNullable<Where["source"]>;
  from?: string; // created at this time or later
  to?: string; // created before this time
  box?: Exclude<Box, "live">;
  q?: string;
  sort?: Sort; // unless it is the default
  request?: string;
}

// A Change of a search removes the parts that it sets to undefined.
export type Change = { [K in keyof Search]?: Search[K] | undefined };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// readSearch reads the valid parts of an address and drops the rest.
export function readSearch(raw: Record<string, unknown>): Search {
  const one = <T extends string>(value: unknown, of: readonly T[]) => of.find((known) => known === value);
  const text = (value: unknown, longest: number) =>
    typeof value === "string" || typeof value === "number" ? String(value).slice(0, longest) : "";
  const id = (value: unknown) => (typeof value === "string" && uuid.test(value) ? value : undefined);
  const time = (value: unknown) => (typeof value === "string" && !Number.isNaN(Date.parse(value)) ? value : undefined);

  const box = one(raw["box"], ["bin", "quarantine"] as const);
  const statuses = (Array.isArray(raw["status"]) ? raw["status"] : [raw["status"]]).flatMap(
    (value) => one(value, Object.keys(statusNames) as Status[]) ?? [],
  );
  return present({
    app: id(raw["app"]),
    status: statuses.length > 0 ? [...new Set(statuses)] : undefined,
    tag: text(raw["tag"], 40) || undefined,
    assignee: raw["assignee"] === "none" ? "none" : id(raw["assignee"]),
    source: one(raw["source"], ["widget", "dashboard", "api", "import"] as const),
    from: time(raw["from"]),
    to: time(raw["to"]),
    box,
    q: (!box && text(raw["q"], 200)) || undefined,
    sort: one(raw["sort"], Object.keys(sortNames) as Sort[]),
    request: id(raw["request"]),
  });
}

// present drops empty parts, and an order that is the default or needs words.
function present({ sort, ...rest }: Change): Search {
  const parts = { ...rest, sort: sort === "relevance" || sort === defaultSort(rest.q) ? undefined : sort };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined && value !== "")) as Search;
}

const defaultSort = (q: string | undefined): Sort => (q ? "relevance" : "newest");

// sortOf returns the order of the list.
export const sortOf = ({ q, sort }: Search): Sort => sort ?? defaultSort(q);

// sortsOf returns the orders that the user can choose. Only a search has best matches.
export const sortsOf = ({ q }: Search): Sort[] =>
  (Object.keys(sortNames) as Sort[]).filter((sort) => sort !== "relevance" || q !== undefined);

// whereOf returns the filter as parameters of the API.
export function whereOf({ app, status, tag, assignee, source, from, to, box, q }: Search): Where {
  return {
    ...(app && { app_id: app }),
    ...(status && { status }),
    ...(tag && { tag }),
    ...(assignee && { assignee_id: assignee }),
    ...(source && { source }),
    ...(from && { created_after: from }),
    ...(to && { created_before: to }),
    ...(box && { box }),
    ...(q && { query: q }),
  };
}

export const boxNames: Record<Box, string> = { live: "Inbox", quarantine: "Quarantine", bin: "Bin" };
export const sourceNames: Record<NonNullable<Where["source"]>, string> = {
  widget: "Widget",
  dashboard: "Dashboard",
  api: "API",
  import: "Import",
};
export const sortNames: Record<Sort, string> = {
  relevance: "Best match",
  newest: "Newest",
  oldest: "Oldest",
  most_voted: "Most voted",
  recently_updated: "Recently updated",
};

// changed applies a change. Another filter or order closes the open request. Only the inbox can
// be searched for words, so a search leaves the other boxes, and the other boxes end a search.
export function changed(search: Search, change: Change): Search {
  const next = { ...search, ...("request" in change ? {} : { request: undefined }), ...(change.q && { box: undefined }), ...change };
  if (next.box) next.q = undefined;
  return present(next);
}

// cleared is the change that clears the filters. It keeps the box and the order.
export const cleared = {
  app: undefined,
  status: undefined,
  tag: undefined,
  assignee: undefined,
  source: undefined,
  from: undefined,
  to: undefined,
  q: undefined,
};

export function filtered(search: Search): boolean {
  return Object.keys(cleared).some((name) => search[name as keyof Search] !== undefined);
}
