import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { useState, type DragEvent, type KeyboardEvent } from "react";

import { useSession } from "../api/session";
import { Button } from "../ui/Button";
import { focusPage } from "../ui/focus";
import { MoreIcon } from "../ui/icons";
import { number } from "../ui/marks";
import { Menu, MenuItem } from "../ui/Menu";
import { notifyError } from "../ui/notices";
import { NameView } from "./SaveView";
import { readSearch } from "./search";
import { deleteView, mayChange, moveView, opening, placeIn, totalQuery, updateView, usePlaces, type Place } from "./views";
import "./views.css";

// ViewList is the list of views in the navigation. Saved views are moved by dragging, by the menu, or by
// the arrow keys with Alt.
export function ViewList() {
  const { places } = usePlaces();
  const { can } = useSession();
  const here = useRouterState({ select: ({ location }) => (location.pathname.endsWith("/") ? readSearch(location.search) : undefined) });
  const current = here && !here.box ? placeIn(here, places).id : undefined;
  const [dragged, setDragged] = useState<Place>();

  const movable = ({ saved }: Place) => saved !== undefined && mayChange(saved, can("member"));
  const group = (place: Place) => places.filter(({ saved }) => saved && saved.shared === place.saved?.shared);
  // move moves a view by some positions among those of its owner.
  function move(place: Place, by: number) {
    const others = group(place);
    const at = others.indexOf(place);
    const to = at + by;
    if (to < 0 || to >= others.length) return;
    const without = others.filter((other) => other !== place);
    void moveView(place.id, to === 0 ? null : without[to - 1]!.id);
  }
  function drop(event: DragEvent, onto: Place) {
    event.preventDefault();
    if (dragged && dragged !== onto) move(dragged, group(dragged).indexOf(onto) - group(dragged).indexOf(dragged));
    setDragged(undefined);
  }

  return (
    <ul className="views" aria-label="Views">
      {places.map((place) => (
        <li
          key={place.id}
          className="view"
          draggable={movable(place)}
          data-dragged={dragged === place || undefined}
          onDragStart={() => setDragged(place)}
          onDragEnd={() => setDragged(undefined)}
          onDragOver={(event) => dragged?.saved && dragged.saved.shared === place.saved?.shared && event.preventDefault()}
          onDrop={(event) => drop(event, place)}
          onKeyDown={(event: KeyboardEvent) => {
            const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            if (!event.altKey || !by || !movable(place)) return;
            event.preventDefault();
            move(place, by);
          }}
        >
          <Link
            to="/"
            search={opening(place)}
            className="view-link"
            draggable={false}
            activeProps={{}}
            {...(current === place.id && { "aria-current": "page" as const })}
          >
            <span className="view-name">{place.name}</span>
            <Total place={place} />
          </Link>
          {place.saved && <ViewActions place={place} view={place.saved} changeable={movable(place)} move={(by) => move(place, by)} />}
        </li>
      ))}
    </ul>
  );
}

function Total({ place }: { place: Place }) {
  const { data } = useQuery(totalQuery(place.search));
  if (!data) return null;
  return (
    <span className="view-total number">
      {number(data.total)}{!data.exact && "+"}<span className="visually-hidden"> requests</span>
    </span>
  );
}

interface ActionsProps {
  place: Place;
  view: NonNullable<Place["saved"]>;
  changeable: boolean;
  move(by: number): void;
}

function ViewActions({ place, view, changeable, move }: ActionsProps) {
  const navigate = useNavigate();
  const { can } = useSession();
  const [renaming, setRenaming] = useState(false);
  const remove = () => void deleteView(place, () => void navigate({ to: "/", search: {} }).then(focusPage));
  const change = (fields: Parameters<typeof updateView>[1]) => void updateView(view.id, fields).catch((error) => notifyError(error));
  return (
    <span className="view-options">
      <Menu
        label={`View ${view.name}`}
        button={<Button small icon kind="quiet" aria-label={`Options of view ${view.name}`} ><MoreIcon size={16} /></Button>}
      >
        <MenuItem onAction={() => change({ default: !view.default })}>{view.default ? "Do not open first" : "Open first"}</MenuItem>
        {changeable && <MenuItem onAction={() => setRenaming(true)}>Rename</MenuItem>}
        {changeable && <MenuItem onAction={() => move(-1)}>Move up</MenuItem>}
        {changeable && <MenuItem onAction={() => move(1)}>Move down</MenuItem>}
        {can("member") && (
          <MenuItem onAction={() => change({ shared: !view.shared })}>
            {view.shared ? "Make it only yours" : "Share with the team"}
          </MenuItem>
        )}
        {changeable && <MenuItem danger onAction={remove}>Delete</MenuItem>}
      </Menu>
      <NameView
        title="Rename view" isOpen={renaming} onClose={() => setRenaming(false)} initial={view.name}
        save={(name) => updateView(view.id, { name })}
      />
    </span>
  );
}
