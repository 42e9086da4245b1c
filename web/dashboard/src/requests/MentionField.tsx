import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useLayoutEffect, useRef, useState, type ComponentProps, type KeyboardEvent } from "react";
import { Popover } from "react-aria-components";

import { usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import type { Member } from "../api/types";
import { mentionOf, typedName } from "../text/mentions";
import { Field } from "../ui/Field";
import { Avatar, count } from "../ui/marks";
import { searchable } from "../text/searchable";
import "../ui/menu.css";

const most = 8;

type Props = Omit<ComponentProps<typeof Field>, "area" | "value" | "onChange"> & { value: string; onChange(value: string): void };

// MentionField is a text area that offers the team after an @. Arrow keys move, and Enter or Tab chooses.
// The focus stays in the text. When it leaves, the list closes.
export function MentionField({ value, onChange, ...props }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const [cursor, setCursor] = useState<number>(); // while the text area has the focus and nothing is selected
  const [closedAt, setClosedAt] = useState<number>(); // the @ for which the list was closed
  const [chosen, setChosen] = useState(0);
  const next = useRef<number>(undefined); // where the cursor goes after a choice
  const typed = cursor === undefined ? undefined : typedName(value, cursor);
  const offered = useOffered(typed?.words);
  const open = typed !== undefined && typed.at !== closedAt && offered.length > 0;
  const at = Math.min(chosen, offered.length - 1);
  const { data: users = [] } = useQuery({ ...usersQuery, enabled: false });

  useLayoutEffect(() => {
    if (next.current === undefined) return;
    area.current?.setSelectionRange(next.current, next.current);
    next.current = undefined;
  }, [value]);
  useEffect(() => setChosen(0), [typed?.words]);
  useEffect(() => {
    if (open) document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [id, open, at]);

  function choose(user: Member) {
    const written = mentionOf(user, users) + " ";
    next.current = typed!.at + written.length;
    setCursor(next.current);
    setClosedAt(typed!.at);
    onChange(value.slice(0, typed!.at) + written + value.slice(cursor).replace(/^ /, ""));
  }

  function keys(event: KeyboardEvent) {
    if (!open || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setChosen((at + step + offered.length) % offered.length);
    else if (event.key === "Enter" || event.key === "Tab") choose(offered[at]!);
    else if (event.key === "Escape") setClosedAt(typed.at);
    else return;
    event.preventDefault();
    event.stopPropagation(); // Escape would close the request
  }

  function track() {
    const { selectionStart, selectionEnd } = area.current!;
    setCursor(selectionStart === selectionEnd ? selectionStart : undefined);
  }

  return (
    <>
      <Field
        {...props}
        value={value}
        onChange={(text) => {
          track();
          if (typedName(text, area.current!.selectionStart)?.at !== closedAt) setClosedAt(undefined);
          onChange(text);
        }}
        area={{
          ref: area,
          onSelect: track,
          onBlur: () => setCursor(undefined),
          onKeyDown: keys,
          "aria-autocomplete": "list",
          "aria-haspopup": "listbox",
          ...(open && { "aria-controls": id, "aria-activedescendant": `${id}-${at}` }),
        }}
      />
      <span className="visually-hidden" role="status">
        {open && `${count(offered.length, "person", "people")} to mention. Choose with the arrow keys and Enter.`}
      </span>
      <Popover
        className="popover"
        triggerRef={area}
        isOpen={open} // also when the request scrolls, for which the popover would close
        isNonModal
        UNSTABLE_portalContainer={area.current?.closest<HTMLElement>(".request-scroll") ?? undefined} // it scrolls with the text
        placement="bottom start"
      >
        <div id={id} role="listbox" aria-label="People to mention" className="menu">
          {offered.map((user, i) => (
            <div
              key={user.id}
              id={`${id}-${i}`}
              role="option"
              aria-selected={i === at}
              className="menu-item mention-option"
              onPointerMove={() => setChosen(i)}
              onPointerDown={(event) => event.preventDefault()} // keeps the focus
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(user)}
            >
              <Avatar name={user.name} />
              <span className="menu-text">{user.name}<small>{user.email}</small></span>
            </div>
          ))}
        </div>
      </Popover>
    </>
  );
}

// useOffered returns the colleagues with a name or an address that has the words, once there are words.
function useOffered(words: string | undefined): Member[] {
  const me = useSession().user;
  const { data: users } = useQuery({ ...usersQuery, enabled: words !== undefined });
  if (words === undefined || !users) return [];
  const wanted = searchable(words);
  const rank = ({ name, email }: Member) => {
    const [of, at] = [searchable(name), searchable(email)];
    return of.startsWith(wanted) ? 0 : of.includes(" " + wanted) ? 1 : at.startsWith(wanted) ? 2 : 3;
  };
  return users
    .filter((user) => user.id !== me.id && rank(user) < 3)
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
    .slice(0, most);
}
