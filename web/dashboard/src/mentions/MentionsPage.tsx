import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { commentId } from "../requests/commentId";
import { authorName } from "../requests/person";
import { usePageTitle } from "../shell/title";
import { Button } from "../ui/Button";
import { MentionIcon } from "../ui/icons";
import { Avatar, count, Time } from "../ui/marks";
import { EmptyState, Failure, message, Skeleton } from "../ui/states";
import { mentionsQuery, unreadQuery, useReading, type Mention } from "./queries";
import "./mentions.css";

export default function MentionsPage() {
  usePageTitle("Mentions");
  const mentions = useInfiniteQuery(mentionsQuery);
  const unread = useQuery(unreadQuery);
  const read = useReading();
  const all = mentions.data?.pages.flatMap((page) => page.mentions) ?? [];
  return (
    <div className="page mentions">
      <div className="page-head">
        <div>
          <h1>Mentions</h1>
          <p>Comments that mention you, newest first.</p>
        </div>
        <Button isDisabled={!unread.data || !all[0]} onPress={() => void read({ up_to: all[0]!.id })}>Mark all as read</Button>
      </div>
      {mentions.isPending ? (
        <Skeleton lines={8} label="Loading mentions" />
      ) : !mentions.data ? (
        <Failure error={mentions.error} onRetry={() => void mentions.refetch()} />
      ) : all.length === 0 ? (
        <EmptyState icon={<MentionIcon size={24} />} title="No mentions yet">
          <p>When a colleague mentions you in a comment, the comment appears here.</p>
        </EmptyState>
      ) : (
        <>
          <ol className="mention-lines" aria-label="Mentions">{all.map((one) => <Line key={one.id} mention={one} read={read} />)}</ol>
          <div className="mention-more">
            <p className="quiet small" role="status">{shownOf(all.length, mentions.data.pages[0]!.total_count)}</p>
            {mentions.hasNextPage && (
              <Button isPending={mentions.isFetchingNextPage} onPress={() => void mentions.fetchNextPage()}>Show more</Button>
            )}
            {mentions.isFetchNextPageError && <p className="field-error" role="alert">{message(mentions.error)}</p>}
          </div>
        </>
      )}
    </div>
  );
}

const shownOf = (n: number, total: number) => (n < total ? `${n} of ${count(total, "mention")}` : count(total, "mention"));

function Line({ mention, read }: { mention: Mention; read: ReturnType<typeof useReading> }) {
  const name = authorName(mention.author);
  return (
    <li data-unread={!mention.read || undefined}>
      <Link
        to="/"
        search={{ request: mention.request_id }}
        hash={commentId(mention.comment_id)}
        className="mention-line"
        onClick={() => mention.read || void read({ ids: [mention.id] })}
      >
        <Avatar name={name} />
        <span className="mention-words">
          <span>
            {!mention.read && <span className="visually-hidden">Unread: </span>}
            <span className="mention-who">{name}</span> on <span className="mention-title">{mention.request_title}</span>
          </span>
          <span className="mention-excerpt">{mention.excerpt}</span>
        </span>
        <span className="quiet small"><Time at={mention.created_at} /></span>
      </Link>
    </li>
  );
}
