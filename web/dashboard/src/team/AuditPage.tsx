import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { call, type Result } from "../api/call";
import { useSession } from "../api/session";
import { usePageTitle } from "../shell/title";
import { Button } from "../ui/Button";
import { BackIcon, ShieldIcon } from "../ui/icons";
import { Avatar, count, Time } from "../ui/marks";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import "./team.css";

type Entry = Result<"audit-list">["entries"][number];

const auditQuery = infiniteQueryOptions({
  queryKey: ["audit"],
  queryFn: ({ pageParam, signal }) => call("audit-list", { limit: 50, ...(pageParam && { cursor: pageParam }) }, signal),
  initialPageParam: "",
  getNextPageParam: (page) => page.next_cursor || undefined,
});

export default function AuditPage() {
  usePageTitle("Audit log");
  const { can } = useSession();
  return (
    <div className="page team">
      <div className="page-head">
        <div>
          <Link to="/team" className="back"><BackIcon size={16} />Team</Link>
          <h1>Audit log</h1>
          <p>Changes to the account, the team and the apps, newest first.</p>
        </div>
      </div>
      {can("admin") ? (
        <Entries />
      ) : (
        <EmptyState icon={<ShieldIcon size={24} />} title="Admins only">
          <p>Only admins can see the audit log.</p>
        </EmptyState>
      )}
    </div>
  );
}

function Entries() {
  const audit = useInfiniteQuery(auditQuery);
  if (audit.isPending) return <Skeleton lines={8} label="Loading audit log" />;
  if (!audit.data) return <Failure error={audit.error} onRetry={() => void audit.refetch()} />;
  const entries = audit.data.pages.flatMap((page) => page.entries);
  if (entries.length === 0) {
    return (
      <EmptyState icon={<ShieldIcon size={24} />} title="No entries yet">
        <p>Invitations, new roles, new keys and changed settings appear here.</p>
      </EmptyState>
    );
  }
  const total = audit.data.pages[0]!.total_count;
  return (
    <>
      <ol className="audit" aria-label="Audit log">{entries.map((entry) => <EntryLine key={entry.number} entry={entry} />)}</ol>
      <div className="audit-more">
        <p className="quiet small" role="status">
          {entries.length < total ? `${entries.length} of ${count(total, "entry", "entries")}` : count(total, "entry", "entries")}
        </p>
        {audit.hasNextPage && (
          <Button isPending={audit.isFetchingNextPage} onPress={() => void audit.fetchNextPage()}>
            Show more
          </Button>
        )}
        {audit.isFetchNextPageError && (
          <p className="field-error" role="alert">
            {audit.error.message}
          </p>
        )}
      </div>
    </>
  );
}

function EntryLine({ entry }: { entry: Entry }) {
  return (
    <li className="audit-entry">
      <Avatar name={entry.actor.name ?? "Gatherkit"} />
      <p>{entry.summary}</p>
      <p className="quiet small"><Time at={entry.at} /></p>
    </li>
  );
}
