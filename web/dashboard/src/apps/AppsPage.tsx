import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useSession } from "../api/session";
import { facetsQuery } from "../inbox/facets";
import { usePageTitle } from "../shell/title";
import { Button } from "../ui/Button";
import { AppsIcon, PlusIcon } from "../ui/icons";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { AppLine } from "./AppLine";
import { CreateApp } from "./CreateApp";
import { appPages } from "./data";
import "./apps.css";

export default function AppsPage() {
  usePageTitle("Apps");
  const { can } = useSession();
  const [creating, setCreating] = useState(false);
  const pages = useInfiniteQuery(appPages);
  const open = useQuery(facetsQuery({ status: "opened" }));
  const apps = pages.data?.pages.flatMap((page) => page.apps) ?? [];
  const create = can("admin") ? () => setCreating(true) : undefined;
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>Apps</h1>
          <p>An app is a product or website that collects requests.</p>
        </div>
        {create && apps.length > 0 && <Button kind="primary" onPress={create}><PlusIcon size={16} />New app</Button>}
      </header>
      {pages.isPending && <Skeleton lines={6} label="Loading apps" />}
      {pages.isError && apps.length === 0 && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && apps.length === 0 && <NoApps create={create} />}
      {apps.length > 0 && (
        <ul className="apps">
          {apps.map((app) => (
            <AppLine key={app.id} app={app} open={open.data?.apps.find(({ app_id }) => app_id === app.id)} />
          ))}
        </ul>
      )}
      {pages.hasNextPage && (
        <div className="apps-more">
          <Button isPending={pages.isFetchingNextPage} onPress={() => void pages.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
      <CreateApp isOpen={creating} onClose={() => setCreating(false)} />
    </div>
  );
}

function NoApps({ create }: { create: (() => void) | undefined }) {
  if (!create) {
    return (
      <EmptyState icon={<AppsIcon size={24} />} title="No apps yet">
        <p>Ask an admin to create the first one.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<AppsIcon size={24} />} title="Create your first app">
      <p>Name it after your product. The next page has the line of code that adds the widget to your site.</p>
      <Button kind="primary" onPress={create}><PlusIcon size={16} />Create your first app</Button>
    </EmptyState>
  );
}
