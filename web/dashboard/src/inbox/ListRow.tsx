import { memo, type MouseEvent } from "react";

import type { App } from "../api/types";
import type { Row } from "../requests/rows";
import { CheckIcon, CommentIcon, HiddenIcon, ReplyIcon, VoteIcon } from "../ui/icons";
import { ago, AppMark, Avatar, count, number, StatusMark, TagMark, Time } from "../ui/marks";

interface Props {
  row: Row;
  id: string;
  at: number;
  of: number; // the total, or -1 if it is not exact
  top: number;
  tags: number; // how many it shows
  app: App | undefined;
  status: string; // its name
  assignee: string | undefined;
  fresh: boolean; // whether it came since the user's last visit
  active: boolean;
  open: boolean;
  selected: boolean;
  selectable: boolean;
  onPress(row: Row, event: MouseEvent): void;
  onSelect(row: Row, range: boolean): void;
}

// ListRow is a request in the list. Rows and their content cannot have the focus, because rows
// that scroll out of view are removed. The list has it instead. Screen readers get one sentence
// instead of the columns.
export const ListRow = memo(function ListRow({
  row,
  id,
  at,
  of,
  top,
  tags,
  app,
  status,
  assignee,
  fresh,
  active,
  open,
  selected,
  selectable,
  onPress,
  onSelect,
}: Props) {
  const second = app || row.sender || row.excerpt || row.tags.length > 0;
  return (
    <div
      id={id}
      role="option"
      aria-selected={selected}
      aria-posinset={at + 1}
      aria-setsize={of}
      className={[
        "item",
        active && "item-active",
        open && "item-open",
        selected && "item-selected",
        !second && "item-single",
      ].filter(Boolean).join(" ")}
      style={{ translate: `0 ${top}px` }}
      onClick={(event) => onPress(row, event)}
    >
      <span className="visually-hidden">{labelOf(row, app, status, assignee, fresh)}</span>
      <span className="item-columns" aria-hidden="true">
        {selectable && (
          <span className="item-check" onClick={(event) => { event.stopPropagation(); onSelect(row, event.shiftKey); }}>
            <span className="check-box" data-selected={selected || undefined}><CheckIcon size={14} /></span>
          </span>
        )}
        <StatusMark status={row.status} dotOnly />
        <span className="item-title">
          {fresh && <span className="item-fresh" title="New since your last visit" />}
          {row.reply_at && <span className="item-replied" title="Replied"><ReplyIcon size={16} /></span>}
          {row.hidden && <span className="item-hidden" title="Hidden"><HiddenIcon size={16} /></span>}
          {row.title}
        </span>
        <span className="item-line">
          {app && <span className="item-app"><AppMark app={app} />{app.name}</span>}
          {row.sender && <span className="item-sender">{row.sender}</span>}
          {row.excerpt && <span className="item-excerpt">{row.excerpt}</span>}
        </span>
        <span className="item-tags">
          {row.tags.slice(0, tags).map((tag) => <TagMark key={tag} tag={tag} />)}
          {row.tags.length > tags && <span className="tag">+{row.tags.length - tags}</span>}
        </span>
        <span className="item-votes" title={count(row.votes, "vote")}><VoteIcon size={16} />{number(row.votes)}</span>
        <span className="item-comments" title={count(row.comments, "comment")}>
          {row.comments > 0 && <><CommentIcon size={14} />{number(row.comments)}</>}
        </span>
        <span className="item-person">{assignee && <Avatar name={assignee} titled />}</span>
        <span className="item-age"><Time at={row.created_at} brief /></span>
      </span>
    </div>
  );
});

function labelOf(row: Row, app: App | undefined, status: string, assignee: string | undefined, fresh: boolean): string {
  return [
    row.title,
    fresh && "new",
    row.reply_at && "replied",
    row.hidden && "hidden",
    status,
    app?.name,
    row.sender && `from ${row.sender}`,
    count(row.votes, "vote"),
    row.comments > 0 && count(row.comments, "comment"),
    row.tags.length > 0 && `tagged ${row.tags.join(", ")}`,
    assignee && `assigned to ${assignee}`,
    ago(row.created_at),
  ].filter(Boolean).join(", ");
}
