import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";

import { onChange } from "../api/feed";
import { useSession } from "../api/session";
import type { App } from "../api/types";
import { addressOf } from "../portal/url";
import { More } from "../requests/Section";
import { BookIcon, ExternalIcon, PlusIcon } from "../ui/icons";
import { moment, TagMark, Time } from "../ui/marks";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { EntryPage } from "./EntryPage";
import { entriesQuery, type Entry, type State } from "./queries";
import "./changelog.css";

const names: Record<State, string> = { draft: "Drafts", scheduled: "Scheduled", published: "Published" };

// ChangelogSection lists the entries of an app's changelog, or edits the one that is in the address.
export default function ChangelogSection({ app }: { app: App }) {
  const { entry } = useSearch({ from: "/inside/apps/$id" });
  return entry ? <EntryPage key={entry} app={app} id={entry === "new" ? undefined : entry} /> : <List app={app} />;
}

function List({ app }: { app: App }) {
  const { can } = useSession();
  const client = useQueryClient();
  useEffect(() => onChange(() => void client.invalidateQueries({ queryKey: ["entries", "list", app.id] })), [client, app.id]);
  const groups = [
    { state: "draft" as const, query: useInfiniteQuery(entriesQuery(app.id, "draft")) },
    { state: "scheduled" as const, query: useInfiniteQuery(entriesQuery(app.id, "scheduled")) },
    { state: "published" as const, query: useInfiniteQuery(entriesQuery(app.id, "published")) },
  ];
  const failed = groups.flatMap(({ query }) => (query.error && !query.data ? [query] : []));
  const create = can("member") && (
    <Link to="/apps/$id" params={{ id: app.id }} search={{ section: "changelog", entry: "new" }} className="button button-primary">
      <PlusIcon size={16} />New entry
    </Link>
  );
  if (failed[0]) return <Failure error={failed[0].error!} onRetry={() => failed.forEach((query) => void query.refetch())} />;
  if (groups.some(({ query }) => !query.data)) return <Skeleton lines={5} label="Loading the changelog" />;
  if (groups.every(({ query }) => query.data!.pages[0]!.total_count === 0)) {
    return (
      <EmptyState icon={<BookIcon size={24} />} title="No entries yet">
        <p>
          Say what is new. Link the requests that an entry is about: when you publish it, you can complete them and tell the people who
          asked.
        </p>
        {create}
      </EmptyState>
    );
  }
  return (
    <>
      <div className="row">
        {create}
        {app.settings.portal.access !== "off" && (
          <a className="button" href={addressOf(app.settings.portal) + "changelog"} target="_blank" rel="noreferrer">
            <ExternalIcon size={16} />Open the changelog
          </a>
        )}
      </div>
      {groups.map(({ state, query }) => {
        const entries = query.data!.pages.flatMap((page) => page.entries);
        if (entries.length === 0) return null;
        return (
          <section key={state} aria-label={names[state]} className="stack">
            <h3>{names[state]}</h3>
            <ul className="entries">{entries.map((entry) => <Line key={entry.id} app={app} entry={entry} />)}</ul>
            <More query={query}>Show more</More>
          </section>
        );
      })}
    </>
  );
}

function Line({ app, entry: { id, title, labels, state, publish_at, published_at, updated_at } }: { app: App; entry: Entry }) {
  return (
    <li className="card">
      <Link to="/apps/$id" params={{ id: app.id }} search={{ section: "changelog", entry: id }}>{title}</Link>
      <span className="row">
        {labels.map((label) => <TagMark key={label} tag={label} />)}
        <span className="quiet small">
          {state === "scheduled" && publish_at ? `Will be published ${moment(publish_at)}` : <Time at={published_at ?? updated_at} />}
        </span>
      </span>
    </li>
  );
}
