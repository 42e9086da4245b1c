import { memo, type MouseEvent } from "react";

import { statusNames } from "../api/types";
import type { Row } from "../requests/rows";
import { CheckIcon, CommentIcon, VoteIcon } from "../ui/icons";
import { ago, Avatar, count, number, StatusMark, TagMark, Time } from "../ui/marks";

interface Props {
  row: Row;
  id: string;
  at: number;
  of: number; // the total, or -1 if it is not exact
  top: number;
  app: string | undefined;
  assignee: string | undefined;
  active: boolean;
  open: boolean;
  selected: boolean;
  selectable: boolean;
  onPress(row: Row, event: MouseEvent): void;
  onSelect(row: Row, range: boolean): void;
}

// ListRow is a request in the list. Rows and their content cannot have the focus, because rows
// that scroll out of view are removed. The list has it instead.
export const ListRow = memo(function ListRow({
  row,
  id,
  at,
  of,
  top,
  app,
  assignee,
  active,
  open,
  selected,
  selectable,
  onPress,
  onSelect,
}: Props) {
  return (
    <div
      id={id}
      role="option"
      aria-selected={selected}
      aria-posinset={at + 1}
      aria-setsize={of}
      aria-label={labelOf(row, app, assignee)}
      className={["item", active && "item-active", open && "item-open", selected && "item-selected"].filter(Boolean).join(" ")}
      style={{ translate: `0 ${top}px` }}
      onClick={(event) => onPress(row, event)}
    >
      {selectable && (
        <span className="item-check" onClick={(event) => { event.stopPropagation(); onSelect(row, event.shiftKey); }}>
          <span className="check-box" data-selected={selected || undefined}><CheckIcon size={14} /></span>
        </span>
      )}
      <StatusMark status={row.status} dotOnly />
      <span className="item-title">{row.title}</span>
      <span className="item-more">
        {row.tags.slice(0, 2).map((tag) => <TagMark key={tag} tag={tag} />)}
        {row.tags.length > 2 && <span className="tag item-rest">+{row.tags.length - 2}</span>}
        {app && <span className="item-app">{app}</span>}
      </span>
      <span className="item-number" title={count(row.votes, "vote")}>
        <VoteIcon size={16} />
        {number(row.votes)}
      </span>
      <span className="item-number" title={count(row.comments, "comment")}>
        {row.comments > 0 && (
          <>
            <CommentIcon size={14} />
            {number(row.comments)}
          </>
        )}
      </span>
      <span className="item-person">{assignee && <Avatar name={assignee} titled />}</span>
      <span className="item-age"><Time at={row.created_at} brief /></span>
    </div>
  );
});

function labelOf(row: Row, app: string | undefined, assignee: string | undefined): string {
  return [
    row.title,
    statusNames[row.status],
    app,
    count(row.votes, "vote"),
    row.comments > 0 && count(row.comments, "comment"),
    row.tags.length > 0 && `tagged ${row.tags.join(", ")}`,
    assignee && `assigned to ${assignee}`,
    ago(row.created_at),
  ].filter(Boolean).join(", ");
}
