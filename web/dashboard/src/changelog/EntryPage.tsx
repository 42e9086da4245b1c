import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { ApiError } from "../api/call";
import type { App } from "../api/types";
import { BackIcon } from "../ui/icons";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { Editor } from "./Editor";
import { entryQuery } from "./queries";

// EntryPage shows one entry, or a new one without an id.
export function EntryPage({ app, id }: { app: App; id: string | undefined }) {
  const { data, error, refetch } = useQuery({ ...entryQuery(id ?? ""), enabled: id !== undefined });
  const gone = error instanceof ApiError && error.status >= 400 && error.status < 500;
  return (
    <>
      <p className="app-back">
        <Link to="/apps/$id" params={{ id: app.id }} search={{ section: "changelog" }}><BackIcon size={16} />All entries</Link>
      </p>
      {data || !id ? (
        <Editor app={app} entry={data} />
      ) : gone ? (
        <EmptyState title="Entry not found"><p>Someone may have deleted it.</p></EmptyState>
      ) : error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton lines={8} label="Loading entry" />
      )}
    </>
  );
}
