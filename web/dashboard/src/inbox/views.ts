import { queryOptions, useQuery } from "@tanstack/react-query";

import { call, type Params } from "../api/call";
import { queryClient } from "../api/queries";
import { undecided, type View } from "../api/types";
import { notify, notifyError } from "../ui/notices";
import { cleared, differsIn, filtersDiffer, searchOf, sortOf, whereOf, type Change, type Search } from "./search";

export const viewsQuery = queryOptions({
  queryKey: ["views"],
  queryFn: async ({ signal }) => (await call("views-list", {}, signal)).views,
  staleTime: 60_000,
});

// A Place is a view of the inbox: a saved one, or one that everybody has.
export interface Place {
  id: string;
  name: string;
  search: Search; // its filter and order
  saved?: View;
}

const everything: Place = { id: "all", name: "All requests", search: {} };
const toDecide: Place = { id: "decide", name: "To decide", search: { status: undecided } };
const builtIns = [toDecide, everything];

const placeOf = (view: View): Place => ({ id: view.id, name: view.name, search: searchOf(view.filter, view.sort), saved: view });

// usePlaces returns all views, and the one that the user sees first. That is undefined until the saved
// views are known.
export function usePlaces(): { places: Place[]; first: Place | undefined } {
  const { data, isPending } = useQuery(viewsQuery);
  const places = [...builtIns, ...(data ?? []).map(placeOf)];
  return { places, first: isPending ? undefined : (places.find(({ saved }) => saved?.default) ?? toDecide) };
}

// placeIn returns the view that a search began with. Filters without a view began with everything.
export function placeIn(search: Search, places: Place[]): Place {
  return places.find(({ id }) => id === search.view) ?? everything;
}

// opening is the search that shows a view.
export function opening({ id, search }: Place): Search {
  return { ...search, view: id };
}

// resetting is the change that goes back to the filter of a view.
export function resetting({ search }: Place): Change {
  return { ...cleared, box: undefined, ...search };
}

// edited reports whether the filter or the order is no longer that of the view.
export function edited(search: Search, place: Place): boolean {
  return filtersDiffer(search, place.search) || differsIn("box", search, place.search) || sortOf(search) !== sortOf(place.search);
}

// mayChange reports whether a user may change a saved view. Those of the team are for members.
export const mayChange = (view: View, member: boolean) => member || !view.shared;

// savedAs returns what a view saves of a search.
export const savedAs = (search: Search) => ({ filter: whereOf(search), sort: sortOf(search) });

// totalQuery counts the requests in a view.
export const totalQuery = (search: Search) => {
  const where = whereOf(search);
  return queryOptions({
    queryKey: ["requests", "facets", where, "total"] as const,
    queryFn: async ({ signal }) => {
      const { total_count, total_exact } = await call("requests-list", { ...where, limit: 1 }, signal);
      return { total: total_count, exact: total_exact };
    },
    refetchInterval: 30_000,
  });
};

const reload = () => queryClient.invalidateQueries({ queryKey: viewsQuery.queryKey });

// show changes the known views. A read that began before would bring back the old ones.
async function show(change: (views: View[]) => View[]): Promise<void> {
  await queryClient.cancelQueries({ queryKey: viewsQuery.queryKey });
  queryClient.setQueryData(viewsQuery.queryKey, (views) => views && change(views));
}

export async function saveView(fields: Params<"views-create">): Promise<View> {
  const { view } = await call("views-create", fields);
  await reload();
  return view;
}

export async function updateView(id: string, fields: Omit<Params<"views-update">, "id">): Promise<void> {
  await call("views-update", { id, ...fields });
  await reload();
}

// moveView shows the new order at once.
export async function moveView(id: string, after: string | null): Promise<void> {
  await show((views) => {
    const moved = views.find((view) => view.id === id);
    if (!moved) return views;
    const rest = views.filter((view) => view !== moved);
    const at = after === null ? rest.findIndex(({ shared }) => shared === moved.shared) : rest.findIndex((view) => view.id === after) + 1;
    return rest.toSpliced(at, 0, moved);
  });
  try {
    await call("views-update", { id, after: after as string });
  } catch (error) {
    notifyError(error, "The view was not moved.");
  }
  await reload();
}

// deleteView deletes a view. Undo saves it again.
export async function deleteView({ id, saved }: Place, then: () => void): Promise<void> {
  try {
    await call("views-delete", { id });
    await show((views) => views.filter((view) => view.id !== id));
    then();
    if (saved) {
      const { name, shared, filter, sort } = saved;
      const undo = () => void saveView({ name, shared, filter, sort, default: saved.default }).catch((error) => notifyError(error));
      notify(`View “${name}” deleted.`, { undo });
    }
  } catch (error) {
    notifyError(error, "The view was not deleted.");
  }
  await reload();
}
