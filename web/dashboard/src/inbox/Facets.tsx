import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { appsQuery, tagsQuery, usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import { statusNames, type App, type Status, type Where } from "../api/types";
import { useStatusName } from "../requests/statuses";
import { searchable } from "../text/searchable";
import { Button } from "../ui/Button";
import { AppMark, count, number, StatusMark } from "../ui/marks";
import { facetsQuery, mostTags } from "./facets";
import { heldQuery } from "./held";
import { boxNames, hiddenNames, sourceNames, type Search } from "./search";
import "./facets.css";

interface Props {
  search: Search;
  where: Where;
  ranked: boolean; // whether the list is in the order of best matches
  onChange(change: Partial<Search>): void;
}

type Count = { count: number; exact: boolean };
type Option = { id: string; name: string; status?: Status; app?: App; comments?: number } & Partial<Count>;

const initialOptions = 8;

// Facets are the filters of the list. Each option shows how many requests the list would have.
// The service counts only requests with all words. The best matches are more than these, so
// options have no numbers then, and do not depend on the words.
export function Facets({ search, where, ranked, onChange }: Props) {
  const { query: _, ...withoutWords } = where;
  const { data } = useQuery(facetsQuery(ranked ? withoutWords : where));
  const { data: apps = [] } = useQuery(appsQuery);
  const { data: users = [] } = useQuery(usersQuery);
  const held = useInfiniteQuery(heldQuery(search.app)).data?.pages[0]?.total_count ?? 0;
  const me = useSession().user.id;
  const nameOf = useStatusName();
  const countOf = <K extends string>(counts: ({ [P in K]: string } & Count)[] | undefined, key: K, id: string): Partial<Count> =>
    counts ? (counts.find((one) => one[key] === id) ?? { count: 0, exact: true }) : {};

  const others = users.filter((user) => user.id !== me).map(({ id, name }) => ({ id, name }));
  const people = [{ id: me, name: "Me" }, { id: "none", name: "Unassigned" }, ...others].map((one) => ({
    ...one,
    ...countOf(data?.assignees, "assignee_id", one.id),
  }));
  const statuses = search.status ?? [];
  const toggle = (status: string) => {
    const next = statuses.includes(status as Status) ? statuses.filter((one) => one !== status) : [...statuses, status as Status];
    onChange({ status: next.length > 0 ? next : undefined });
  };
  return (
    <div className="facets">
      <p className="facets-caption">
        {ranked ? "No counts while sorted by best match" : "Matches for each option, with your other filters"}
      </p>
      <Facet
        label="Folder"
        counted={!ranked}
        options={(["live", "quarantine", "bin"] as const).map((id) => ({
          id,
          name: boxNames[id],
          ...countOf(data?.boxes, "box", id),
          comments: id === "quarantine" ? held : 0,
        }))}
        chosen={[search.box ?? "live"]}
        onToggle={(id) => onChange({ box: id === "live" ? undefined : (id as Search["box"]) })}
      />
      <Facet
        label="Status"
        counted={!ranked}
        options={(Object.keys(statusNames) as Status[]).map((status) => ({
          id: status,
          name: nameOf(status, search.app),
          status,
          ...countOf(data?.statuses, "status", status),
        }))}
        chosen={statuses}
        onToggle={toggle}
      />
      <Facet
        label="Assignee"
        counted={!ranked}
        options={people.filter((one, i) => i < 2 || one.count !== 0 || one.id === search.assignee)}
        chosen={[search.assignee]}
        onToggle={(id) => onChange({ assignee: other(id, search.assignee) })}
      />
      {apps.length > 1 && (
        <Facet
          label="App"
          counted={!ranked}
          options={apps.map((app) => ({ id: app.id, name: app.name, app, ...countOf(data?.apps, "app_id", app.id) }))}
          chosen={[search.app]}
          onToggle={(id) => onChange({ app: other(id, search.app) })}
        />
      )}
      <TagFacet
        counted={!ranked}
        tags={data?.tags}
        chosen={search.tag}
        onToggle={(id) => onChange({ tag: other(id, search.tag) })}
      />
      <Facet
        label="Source"
        counted={!ranked}
        options={(Object.keys(sourceNames) as (keyof typeof sourceNames)[])
          .map((id) => ({ id, name: sourceNames[id], ...countOf(data?.sources, "source", id) }))
          .filter((one) => one.count !== 0 || one.id === search.source)}
        chosen={[search.source]}
        onToggle={(id) => onChange({ source: other(id, search.source) as Search["source"] })}
      />
      <Facet
        label="Visibility"
        counted={false}
        options={Object.entries(hiddenNames).map(([id, name]) => ({ id, name }))}
        chosen={[search.hidden?.toString()]}
        onToggle={(id) => onChange({ hidden: id === search.hidden?.toString() ? undefined : id === "true" })}
      />
    </div>
  );
}

const other = (id: string, chosen: string | undefined) => (id === chosen ? undefined : id);

// countsOf says how many requests an option has, and how many comments wait there.
function countsOf({ count: n, exact, comments }: Option, counted: boolean): string {
  const requests = counted && n !== undefined && (n > 0 || !comments) ? number(n) + (exact === false ? "+" : "") : "";
  return [requests, comments ? count(comments, "comment") : ""].filter(Boolean).join(" + ");
}

// If there are so many tags that not all come with numbers, the others are found by their name.
function TagFacet({ tags, chosen, counted, onToggle }: {
  tags: ({ tag: string } & Count)[] | undefined;
  chosen: string | undefined;
  counted: boolean;
  onToggle(id: string): void;
}) {
  const [words, setWords] = useState("");
  const many = (tags?.length ?? 0) >= mostTags;
  const known = useQuery({ ...tagsQuery, enabled: many });
  const options = tagOptions(tags, chosen);
  const wanted = many ? searchable(words) : "";
  const found = (known.data ?? [])
    .filter(({ tag }) => searchable(tag).includes(wanted))
    .map(({ tag }) => options.find(({ id }) => id === tag) ?? { id: tag, name: tag });
  return (
    <Facet
      label="Tag"
      counted={counted}
      options={wanted ? found.slice(0, mostTags) : options}
      whole={wanted !== ""}
      more={many ? "Show more" : undefined}
      chosen={[chosen]}
      onToggle={onToggle}
    >
      {many && (
        <>
          <input
            type="search"
            className="facet-search"
            aria-label="Find a tag"
            placeholder={`Find one of ${number(known.data?.length ?? mostTags)} tags`}
            value={words}
            maxLength={40}
            onChange={(event) => setWords(event.target.value)}
          />
          {wanted && found.length === 0 && known.data && <p className="quiet small">No such tag</p>}
        </>
      )}
    </Facet>
  );
}

function tagOptions(tags: ({ tag: string } & Count)[] = [], chosen: string | undefined): Option[] {
  const options = tags.map(({ tag, count, exact }) => ({ id: tag, name: tag, count, exact }));
  const found = options.find(({ id }) => id.toLowerCase() === chosen?.toLowerCase());
  if (!chosen || found) return options.map((option) => (option === found ? { ...option, id: chosen! } : option));
  return [{ id: chosen, name: chosen }, ...options];
}

function Facet({
  label,
  counted,
  options,
  whole = false,
  more,
  chosen,
  onToggle,
  children,
}: {
  label: string;
  counted: boolean; // whether to show the numbers
  options: Option[];
  whole?: boolean; // whether all options are shown
  more?: string | undefined; // on the button that shows all options, in place of their number
  chosen: (string | undefined)[];
  onToggle(id: string): void;
  children?: ReactNode; // below the label
}) {
  const [all, setAll] = useState(false);
  if (options.length === 0 && !children) return null;
  const shown = all || whole ? options : options.filter((option, i) => i < initialOptions || chosen.includes(option.id));
  return (
    <section className="facet" role="group" aria-label={label}>
      <h3>{label}</h3>
      {children}
      {shown.map((option) => (
        <button
          key={option.id}
          type="button"
          className="facet-option"
          aria-pressed={chosen.includes(option.id)}
          onClick={() => onToggle(option.id)}
        >
          {option.status ? (
            <StatusMark status={option.status} name={option.name} />
          ) : (
            <span className="facet-name">{option.app && <AppMark app={option.app} />}{option.name}</span>
          )}
          <span className="facet-count">{countsOf(option, counted)}</span>
        </button>
      ))}
      {!whole && options.length > initialOptions && (
        <Button small kind="quiet" onPress={() => setAll(!all)}>
          {all ? "Show fewer" : (more ?? `Show all ${number(options.length)}`)}
        </Button>
      )}
    </section>
  );
}
