import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { appsQuery } from "../api/queries";
import { useSession } from "../api/session";
import { Button } from "../ui/Button";
import { AppsIcon, InboxIcon, SearchIcon, ShieldIcon, TrashIcon } from "../ui/icons";
import { EmptyState } from "../ui/states";
import { filtered, type Search } from "./search";

// Why there is nothing in the list, and what to do next.
export function Empty({ search, onClear, onNew }: { search: Search; onClear(): void; onNew(): void }) {
  const apps = useQuery(appsQuery);
  const { can } = useSession();
  if (filtered(search)) {
    return (
      <EmptyState icon={<SearchIcon size={24} />} title="Nothing matches">
        <p>{search.q ? "No request has all of these words. Fewer words find more." : "No request is like this at the moment."}</p>
        <Button onPress={onClear}>Clear the filters</Button>
      </EmptyState>
    );
  }
  if (search.box === "bin") {
    return (
      <EmptyState icon={<TrashIcon size={24} />} title="The bin is empty">
        <p>What is deleted stays here for 30 days, and can be restored.</p>
      </EmptyState>
    );
  }
  if (search.box === "quarantine") {
    return (
      <EmptyState icon={<ShieldIcon size={24} />} title="Nothing in quarantine">
        <p>What looks like spam waits here until somebody has looked at it.</p>
      </EmptyState>
    );
  }
  if (!apps.data) return null;
  const [app] = apps.data;
  if (!app) {
    return (
      <EmptyState icon={<AppsIcon size={24} />} title="Begin with an app">
        <p>
          {can("admin")
            ? "An app is a product of yours that collects requests. Create it, and put its widget on your site."
            : "Requests are collected by apps, and there is none yet. Ask an admin of your team to create one."}
        </p>
        {can("admin") && (
          <Link to="/apps" className="button button-primary">
            Create an app
          </Link>
        )}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<InboxIcon size={24} />} title="No request yet">
      <p>They appear here by themselves as soon as people send them. Put the widget on your site to let them.</p>
      <div className="row">
        <Link to="/apps/$id" params={{ id: app.id }} className="button button-primary">Get the widget</Link>
        {can("member") && <Button onPress={onNew}>Write one yourself</Button>}
      </div>
    </EmptyState>
  );
}
