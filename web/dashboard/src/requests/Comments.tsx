import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import type { Comment, FeatureRequest } from "../api/types";
import { reload } from "./carry";
import { CommentForm } from "./CommentForm";
import { commentId } from "./commentId";
import { CommentItem } from "./CommentItem";
import { commentsQuery } from "./details";
import { rowOf } from "./rows";
import { More, Section, Waiting } from "./Section";

interface Props {
  request: FeatureRequest;
  editable: boolean;
  live: boolean; // whether the request is neither in quarantine nor in the bin
}

export function Comments({ request, editable, live }: Props) {
  const comments = useInfiniteQuery(commentsQuery(request.id));
  const client = useQueryClient();
  const list = useRef<HTMLUListElement>(null);
  const all = comments.data?.pages.flatMap((page) => page.comments) ?? [];
  const named = useNamed(comments, all);
  const total = comments.data?.pages.at(-1)?.total_count;

  // changed reads the comments again after some were added or deleted.
  async function changed(more: number) {
    await reload([rowOf(request)]).catch(() => undefined); // the comment is stored
    void client.invalidateQueries({ queryKey: ["requests", "history", request.id] });
    await client.invalidateQueries({ queryKey: ["requests", "comments", request.id] });
    if (more < 0) list.current?.focus(); // the focused button is gone
    if (more > 0 && comments.hasNextPage) await comments.fetchNextPage();
  }

  return (
    <Section title="Comments" count={total ?? request.comments}>
      <Waiting query={comments} lines={Math.min(request.comments, 2)} />
      <ul className="comments" ref={list} tabIndex={-1} aria-label="Comments">
        {all.map((comment) => (
          <CommentItem
            key={comment.id}
            comment={comment}
            request={request}
            editable={editable}
            named={comment.id === named}
            onChanged={changed}
          />
        ))}
      </ul>
      <More query={comments}>Show newer comments</More>
      {comments.data && all.length === 0 && !editable && <p className="quiet small">No comments yet</p>}
      {editable && <CommentForm request={request} keys={live} onChanged={changed} />}
    </Section>
  );
}

type Pages = { hasNextPage: boolean; isFetching: boolean; isError: boolean; fetchNextPage(): unknown };

// useNamed returns the id of the comment that the address names. It reads pages until it has the comment,
// and then shows it.
function useNamed(pages: Pages, all: Comment[]): string | undefined {
  const { hash } = useLocation();
  const named = hash.startsWith(commentId("")) ? hash.slice(commentId("").length) : undefined;
  const there = all.some(({ id }) => id === named);
  const missing = named !== undefined && !there && pages.hasNextPage && !pages.isFetching && !pages.isError;
  useEffect(() => {
    if (missing) void pages.fetchNextPage();
  }, [missing, pages]);
  useEffect(() => {
    if (!there || !named) return;
    const element = document.getElementById(commentId(named));
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "center" });
  }, [there, named]);
  return named;
}
