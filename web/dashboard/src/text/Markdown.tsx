import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";

import { usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import type { Inline } from "./inline";
import { markdown, type Block } from "./blocks";
import { withoutIds } from "./mentions";
import "./text.css";

// Markdown shows a text in Markdown. It makes elements of the parsed text and never markup from strings,
// so that HTML in the text is only text.
export function Markdown({ text }: { text: string }) {
  const parts = useMemo(() => markdown(text), [text]);
  return <div className="text">{parts.map(block)}</div>;
}

function block(part: Block, key: number): ReactNode {
  switch (part.kind) {
    case "paragraph":
      return <p key={key}>{part.of.map(inline)}</p>;
    case "heading": // all are alike, below the headings of the page
      return <h4 key={key}>{part.of.map(inline)}</h4>;
    case "code":
      return <pre key={key}><code>{withoutIds(part.text)}</code></pre>;
    case "rule":
      return <hr key={key} />;
    case "quote":
      return <blockquote key={key}>{part.of.map(block)}</blockquote>;
    case "list": {
      const items = part.items.map((item, i) => <li key={i}>{item.map(block)}</li>);
      return part.first === undefined ? <ul key={key}>{items}</ul> : <ol key={key} start={part.first}>{items}</ol>;
    }
  }
}

function inline(part: Inline, key: number): ReactNode {
  switch (part.kind) {
    case "text":
      return part.text;
    case "break":
      return <br key={key} />;
    case "code":
      return <code key={key}>{withoutIds(part.text)}</code>;
    case "mention":
      return <Mention key={key} id={part.id} name={part.name} />;
    case "link":
      return (
        <a key={key} href={part.href} target="_blank" rel="noreferrer">
          {part.of.map(inline)}
          <span className="visually-hidden"> (opens in a new tab)</span>
        </a>
      );
    default: {
      const Element = part.kind;
      return <Element key={key}>{part.of.map(inline)}</Element>;
    }
  }
}

// Mention shows the user's present name, or for a removed user the one that was written.
function Mention({ id, name }: { id: string; name: string }) {
  const users = useQuery(usersQuery);
  const me = useSession().user;
  const now = users.data?.find((user) => user.id === id)?.name ?? name;
  return <span className="mention" data-me={id === me.id || undefined}>@{now}</span>;
}
