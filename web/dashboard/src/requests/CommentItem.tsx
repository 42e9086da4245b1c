import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { call } from "../api/call";
import { usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import type { Comment, FeatureRequest } from "../api/types";
import { Markdown } from "../text/Markdown";
import { toField } from "../text/mentions";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { EditIcon, MoreIcon, ReplyIcon, TrashIcon } from "../ui/icons";
import { Avatar, Time } from "../ui/marks";
import { Menu, MenuItem } from "../ui/Menu";
import { notify, notifyError } from "../ui/notices";
import { message } from "../ui/states";
import { CommentFields, useBody } from "./CommentForm";
import { commentId } from "./commentId";
import { authorName } from "./person";
import { PersonLink } from "./PersonLink";
import { Verified } from "./Submitter";

type Props = { comment: Comment; request: FeatureRequest; editable: boolean; named?: boolean; onChanged(more: number): Promise<void> };

// CommentItem shows a comment. One that is named in the address stands out.
export function CommentItem({ comment, request, editable, named, onChanged }: Props) {
  const { user, can } = useSession();
  const [draft, setDraft] = useState<{ body: string; open: boolean; saved: string }>();
  const [asking, setAsking] = useState(false);
  const { data: users } = useQuery({ ...usersQuery, enabled: comment.body.includes("@[") });
  const toBody = useBody();
  const own = comment.author.id === user.id;
  const { kind } = comment.author;
  const outside = kind !== "team";
  const name = authorName(comment.author);

  async function block() {
    try {
      await call("people-block", { app_id: request.app_id, request_id: comment.request_id, comment_id: comment.id });
      notify(`${name} is blocked. The settings of the portal list the people who are.`);
    } catch (error) {
      notifyError(error, `Could not block ${name}.`);
    }
  }

  return (
    <li
      id={commentId(comment.id)}
      className="comment"
      tabIndex={-1}
      data-named={named || undefined}
      data-public={comment.visibility === "public" || undefined}
      data-reply={outside || undefined}
    >
      <div className="comment-head">
        <Avatar name={name} />
        <span className="comment-author">{comment.person ? <PersonLink of={comment.person}>{name}</PersonLink> : name}</span>
        {comment.person?.verified && <Verified />}
        {outside ? (
          <span className="comment-reply"><ReplyIcon size={14} />{kind === "visitor" ? "Visitor" : "Submitter"}</span>
        ) : (
          <span className={comment.visibility === "public" ? "comment-public" : "quiet small"}>
            {comment.visibility === "public" ? "Public" : "Internal"}
          </span>
        )}
        <span className="quiet small">
          <Time at={comment.created_at} />
          {comment.updated_at !== comment.created_at && ", edited"}
        </span>
        <span className="comment-actions">
          {editable && own && (
            <Button
              small
              kind="quiet"
              icon
              aria-label="Edit your comment"
              onPress={() => {
                const saved = toField(comment.body, users ?? []);
                setDraft({ body: saved, saved, open: comment.visibility === "public" });
              }}
            >
              <EditIcon size={16} />
            </Button>
          )}
          {editable && (own || can("admin")) && (
            <Button
              small
              kind="quiet"
              icon
              aria-label={own ? "Delete your comment" : `Delete comment by ${name}`}
              onPress={() => setAsking(true)}
            >
              <TrashIcon size={16} />
            </Button>
          )}
          {kind === "visitor" && can("member") && (
            <Menu
              label="Comment"
              button={<Button small kind="quiet" icon aria-label={`More about the comment by ${name}`}><MoreIcon size={16} /></Button>}
            >
              <MenuItem danger onAction={() => void block()}>Block this person</MenuItem>
            </Menu>
          )}
        </span>
      </div>
      {draft ? (
        <CommentFields
          request={request}
          label="Your comment"
          saved={draft.saved}
          seen={comment.visibility === "public"}
          body={draft.body}
          onBody={(body) => setDraft({ ...draft, body })}
          open={draft.open}
          onOpen={(open) => setDraft({ ...draft, open })}
          onCancel={() => setDraft(undefined)}
          send={async (visibility) => {
            await call("comments-update", {
              request_id: comment.request_id,
              id: comment.id,
              body: await toBody(draft.body),
              ...visibility,
            });
            await onChanged(0);
            setDraft(undefined);
          }}
        />
      ) : outside ? (
        <p className="text prose">{comment.body}</p>
      ) : (
        <Markdown text={comment.body} />
      )}
      <DeleteDialog comment={comment} isOpen={asking} onClose={() => setAsking(false)} onChanged={onChanged} />
    </li>
  );
}

type DeleteProps = Pick<Props, "comment" | "onChanged"> & { isOpen: boolean; onClose(): void };

function DeleteDialog({ comment, isOpen, onClose, onChanged }: DeleteProps) {
  const [error, setError] = useState<unknown>();
  async function remove() {
    try {
      await call("comments-delete", { request_id: comment.request_id, id: comment.id });
      onClose();
      await onChanged(-1);
    } catch (caught) {
      setError(caught);
    }
  }
  return (
    <Dialog title="Delete comment?" isOpen={isOpen} onClose={onClose}>
      <p className="quiet">This cannot be undone. The history keeps the text of the comment.</p>
      {error !== undefined && <p className="field-error" role="alert">{message(error)}</p>}
      <div className="dialog-actions">
        <Button onPress={onClose} autoFocus>Cancel</Button>
        <Button kind="danger" onPress={() => void remove()}>Delete</Button>
      </div>
    </Dialog>
  );
}
