// The selected requests: some, or all that match the filter. anchor is the start of a range.
export type Selection = { ids: ReadonlySet<string>; all: boolean; anchor: string | undefined };

export const nothing: Selection = { ids: new Set(), all: false, anchor: undefined };

// toggled selects or deselects a request. If all that match were selected, the loaded ones stay
// selected.
export function toggled(now: Selection, id: string, loaded: readonly string[]): Selection {
  const ids = new Set(now.all ? loaded : now.ids);
  if (!ids.delete(id)) ids.add(id);
  return { ids, all: false, anchor: id };
}

// extended adds the range from the anchor to id. If the anchor is not in the list, it adds only
// id.
export function extended(now: Selection, id: string, loaded: readonly string[]): Selection {
  const to = loaded.indexOf(id);
  const from = now.anchor === undefined ? -1 : loaded.indexOf(now.anchor);
  if (to < 0) return now;
  const range = from < 0 ? [id] : loaded.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: new Set([...(now.all ? loaded : now.ids), ...range]), all: false, anchor: from < 0 ? id : now.anchor };
}

export function everything(loaded: readonly string[], all: boolean): Selection {
  return { ids: new Set(loaded), all, anchor: undefined };
}
