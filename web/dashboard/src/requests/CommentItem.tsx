import { useState } from "react";

import { call } from "../api/call";
import { useSession } from "../api/session";
import type { Comment } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { EditIcon, TrashIcon } from "../ui/icons";
import { Avatar, Time } from "../ui/marks";
import { message } from "../ui/states";
import { CommentFields } from "./CommentForm";

type Props = { comment: Comment; editable: boolean; onChanged(more: number): Promise<void> };

export function CommentItem({ comment, editable, onChanged }: Props) {
  const { user, can } = useSession();
  const [draft, setDraft] = useState<{ body: string; open: boolean }>();
  const [asking, setAsking] = useState(false);
  const own = comment.author.id === user.id;
  const name = comment.author.name ?? "Former member";

  return (
    <li className="comment" tabIndex={-1} data-public={comment.visibility === "public" || undefined}>
      <div className="comment-head">
        <Avatar name={name} />
        <span className="comment-author">{name}</span>
        <span className={comment.visibility === "public" ? "comment-public" : "quiet small"}>
          {comment.visibility === "public" ? "Public" : "Internal"}
        </span>
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
              onPress={() => setDraft({ body: comment.body, open: comment.visibility === "public" })}
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
        </span>
      </div>
      {draft ? (
        <CommentFields
          label="Your comment"
          saved={comment.body}
          body={draft.body}
          onBody={(body) => setDraft({ ...draft, body })}
          open={draft.open}
          onOpen={(open) => setDraft({ ...draft, open })}
          onCancel={() => setDraft(undefined)}
          send={async () => {
            await call("comments-update", {
              request_id: comment.request_id,
              id: comment.id,
              body: draft.body,
              visibility: draft.open ? "public" : "internal",
            });
            await onChanged(0);
            setDraft(undefined);
          }}
        />
      ) : (
        <p className="prose">{comment.body}</p>
      )}
      <DeleteDialog comment={comment} isOpen={asking} onClose={() => setAsking(false)} onChanged={onChanged} />
    </li>
  );
}

function DeleteDialog({ comment, isOpen, onClose, onChanged }: Omit<Props, "editable"> & { isOpen: boolean; onClose(): void }) {
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
