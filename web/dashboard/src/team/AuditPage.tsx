import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";

import { call, type Result } from "../api/call";
import { Button } from "../ui/Button";
import { KeyIcon, ShieldIcon } from "../ui/icons";
import { Avatar, count, Time } from "../ui/marks";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { AdminPage } from "./AdminPage";

type Entry = Result<"audit-list">["entries"][number];

// The parts of the audit log. empty says what a part will show.
const parts = {
  account: { name: "Account", empty: "Invitations, new roles, new keys and changed settings appear here." },
  requests: { name: "Requests", empty: "Changed, merged, deleted and restored requests appear here." },
};
type Part = keyof typeof parts;

const auditQuery = (about: Part) =>
  infiniteQueryOptions({
    queryKey: ["audit", about],
    queryFn: ({ pageParam, signal }) => call("audit-list", { about, limit: 50, ...(pageParam && { cursor: pageParam }) }, signal),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor || undefined,
  });

export default function AuditPage() {
  const { about = "account" } = useSearch({ from: "/inside/team/audit" });
  return (
    <AdminPage title="Audit log" about="Who changed what, newest first." what="the audit log">
      <nav className="audit-parts" aria-label="Parts">
        {(Object.keys(parts) as Part[]).map((part) => (
          <Link key={part} to="/team/audit" search={part === "account" ? {} : { about: part }} activeOptions={{ exact: true }}>
            {parts[part].name}
          </Link>
        ))}
      </nav>
      <Entries key={about} about={about} />
    </AdminPage>
  );
}

function Entries({ about }: { about: Part }) {
  const audit = useInfiniteQuery(auditQuery(about));
  if (audit.isPending) return <Skeleton lines={8} label="Loading audit log" />;
  if (!audit.data) return <Failure error={audit.error} onRetry={() => void audit.refetch()} />;
  const entries = audit.data.pages.flatMap((page) => page.entries);
  if (entries.length === 0) {
    return (
      <EmptyState icon={<ShieldIcon size={24} />} title="No entries yet">
        <p>{parts[about].empty}</p>
      </EmptyState>
    );
  }
  const total = audit.data.pages[0]!.total_count;
  return (
    <>
      <ol className="audit" aria-label="Audit log">
        {entries.map((entry) => <EntryLine key={entry.number} entry={entry} about={about} />)}
      </ol>
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

function EntryLine({ entry, about }: { entry: Entry; about: Part }) {
  return (
    <li className="audit-entry">
      {entry.actor.kind === "token"
        ? <span className="avatar"><KeyIcon size={14} /></span>
        : <Avatar name={entry.actor.name ?? "Gatherkit"} />}
      <div>
        {about === "requests" && <RequestLink request={entry.request} />}
        <p>{entry.summary}</p>
      </div>
      <p className="quiet small"><Time at={entry.at} /></p>
    </li>
  );
}

function RequestLink({ request }: { request: Entry["request"] }) {
  if (!request) return <p className="quiet">Request of a deleted app</p>;
  const { id, title, box } = request;
  return <Link to="/" search={{ ...(box !== "live" && { box }), request: id }} className="audit-request">{title}</Link>;
}
