import { statusNames, type Box, type Sort, type Status, type Where } from "../api/types";

// Search is the state of the inbox in its address: the filter, the order and the open request.
export interface Search {
  view?: string; // the id of the saved view that it began with, or a built-in one
  person?: Person; // who submitted or voted
  app?: string;
  status?: Status[];
  tag?: string;
  assignee?: string; // an id, or "none"
  source?: NonNullable<Where["source"]>;
  hidden?: boolean;
  from?: string; // created at this time or later
  to?: string; // created before this time
  box?: Exclude<Box, "live">;
  q?: string;
  sort?: Sort; // unless it is the default
  request?: string;
}

export type Person = NonNullable<Where["person"]>;

// A Change of a search removes the parts that it sets to undefined.
export type Change = { [K in keyof Search]?: Search[K] | undefined };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// readSearch reads the valid parts of an address and drops the rest.
export function readSearch(raw: Record<string, unknown>): Search {
  const one = <T extends string | boolean>(value: unknown, of: readonly T[]) => of.find((known) => known === value);
  const text = (value: unknown, longest: number) =>
    typeof value === "string" || typeof value === "number" ? String(value).slice(0, longest) : "";
  const id = (value: unknown) => (typeof value === "string" && uuid.test(value) ? value : undefined);
  const time = (value: unknown) => (typeof value === "string" && !Number.isNaN(Date.parse(value)) ? value : undefined);

  const box = one(raw["box"], ["bin", "quarantine"] as const);
  const statuses = (Array.isArray(raw["status"]) ? raw["status"] : [raw["status"]]).flatMap(
    (value) => one(value, Object.keys(statusNames) as Status[]) ?? [],
  );
  return present({
    view: one(raw["view"], builtIn) ?? id(raw["view"]),
    person: personIn(raw["person"]),
    app: id(raw["app"]),
    status: statuses.length > 0 ? [...new Set(statuses)] : undefined,
    tag: text(raw["tag"], 40) || undefined,
    assignee: raw["assignee"] === "none" ? "none" : id(raw["assignee"]),
    source: one(raw["source"], ["widget", "dashboard", "api", "import"] as const),
    hidden: one(raw["hidden"], [true, false]),
    from: time(raw["from"]),
    to: time(raw["to"]),
    box,
    q: (!box && text(raw["q"], 200)) || undefined,
    sort: one(raw["sort"], Object.keys(sortNames) as Sort[]),
    request: id(raw["request"]),
  });
}

// The views that everybody has: what is to be decided, and everything.
export const builtIn = ["decide", "all"] as const;

function personIn(raw: unknown): Person | undefined {
  if (typeof raw !== "object" || raw === null) return undefined;
  const known: Person = {};
  for (const name of ["email", "name", "external_id"] as const) {
    const value = (raw as Record<string, unknown>)[name];
    if (typeof value === "string" && value) known[name] = value;
  }
  if (known.external_id && (raw as Person).verified === true) known.verified = true;
  return Object.keys(known).length > 0 ? known : undefined;
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
export function whereOf({ person, app, status, tag, assignee, source, hidden, from, to, box, q }: Search): Where {
  return {
    ...(person && { person }),
    ...(app && { app_id: app }),
    ...(status && { status }),
    ...(tag && { tag }),
    ...(assignee && { assignee_id: assignee }),
    ...(source && { source }),
    ...(hidden !== undefined && { hidden }),
    ...(from && { created_after: from }),
    ...(to && { created_before: to }),
    ...(box && { box }),
    ...(q && { query: q }),
  };
}

// searchOf is the opposite of whereOf.
export function searchOf(where: Where, sort?: Sort): Search {
  const { person, app_id, status, tag, assignee_id, source, hidden, created_after, created_before, box, query } = where;
  return present({
    person,
    app: app_id,
    status: typeof status === "string" ? [status] : status,
    tag,
    assignee: assignee_id,
    source,
    hidden,
    from: created_after,
    to: created_before,
    box: box === "live" ? undefined : box,
    q: query,
    sort,
  });
}

export const boxNames: Record<Box, string> = { live: "Inbox", quarantine: "Quarantine", bin: "Bin" };
export const sourceNames: Record<NonNullable<Where["source"]>, string> = {
  widget: "Widget",
  portal: "Portal",
  dashboard: "Dashboard",
  api: "API",
  import: "Import",
};
export const hiddenNames = { true: "Hidden", false: "Not hidden" };
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
  return present({ ...next, view: next.view ?? "all" });
}

// cleared is the change that clears the filters. It keeps the box and the order.
export const cleared = {
  person: undefined,
  app: undefined,
  status: undefined,
  tag: undefined,
  assignee: undefined,
  source: undefined,
  hidden: undefined,
  from: undefined,
  to: undefined,
  q: undefined,
};

// filtersDiffer reports whether a search has other filters than that of a view.
export function filtersDiffer(search: Search, view: Search): boolean {
  return Object.keys(cleared).some((name) => differsIn(name as keyof Search, search, view));
}

// isNarrowed reports whether a search has filters that a view does not have, besides its words.
export const isNarrowed = (search: Search, view: Search = {}) => filtersDiffer({ ...search, q: view.q } as Search, view);

// differsIn reports whether two searches differ in one part.
export function differsIn(name: keyof Search, a: Search, b: Search): boolean {
  return JSON.stringify(ordered(a[name])) !== JSON.stringify(ordered(b[name]));
}

const ordered = (value: unknown): unknown => (Array.isArray(value) ? value.toSorted() : value);
