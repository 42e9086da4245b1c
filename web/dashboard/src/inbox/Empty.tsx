import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { appsQuery } from "../api/queries";
import { useSession } from "../api/session";
import { Button } from "../ui/Button";
import { AppsIcon, CheckIcon, InboxIcon, SearchIcon, ShieldIcon, TrashIcon } from "../ui/icons";
import { EmptyState } from "../ui/states";
import { filtersDiffer, isNarrowed, sortOf, type Search } from "./search";
import { totalQuery, type Place } from "./views";

interface Props {
  search: Search;
  meant: string | undefined; // words that would match
  onSearch(words: string): void;
  place: Place;
  onEverything(): void; // searches all requests
  onClear(): void;
  onNew(): void;
}

const toInbox = <Link to="/" className="button">Back to inbox</Link>;

// Empty says why the list is empty, and what to do next.
export function Empty({ search, place, meant, onSearch, onEverything, onClear, onNew }: Props) {
  const apps = useQuery(appsQuery);
  const totals = useQuery(totalQuery({}));
  const { can } = useSession();
  if (search.q) {
    const narrowed = isNarrowed(search);
    const advice = sortOf(search) === "relevance" ? "Try other words." : "Try fewer words, or sort by best match.";
    return (
      <EmptyState
        live
        icon={<SearchIcon size={24} />}
        title={narrowed ? `No requests here match “${search.q}”` : `No requests match “${search.q}”`}
      >
        {meant ? (
          <p>Did you mean <Button small aria-label={`Search for ${meant}`} onPress={() => onSearch(meant)}>{meant}</Button>?</p>
        ) : (
          <p>{narrowed ? "Other views and filters may have some." : advice}</p>
        )}
        <div className="row">
          {narrowed && <Button onPress={onEverything}>Search all requests</Button>}
          <Button kind="quiet" onPress={onClear}>Clear search</Button>
        </div>
      </EmptyState>
    );
  }
  if (filtersDiffer(search, place.search)) {
    return (
      <EmptyState live icon={<SearchIcon size={24} />} title="No matching requests">
        <p>Try other filters, or clear them.</p>
        <Button onPress={onClear}>Clear filters</Button>
      </EmptyState>
    );
  }
  if (search.box === "bin") {
    return (
      <EmptyState icon={<TrashIcon size={24} />} title="The bin is empty">
        <p>Deleted requests stay here for 30 days. You can restore them until then.</p>
        {toInbox}
      </EmptyState>
    );
  }
  if (search.box === "quarantine") {
    return (
      <EmptyState icon={<ShieldIcon size={24} />} title="No requests in quarantine">
        <p>Suspected spam and ideas that the portal holds stay here until someone reviews them.</p>
        {toInbox}
      </EmptyState>
    );
  }
  if (place.id === "decide" && totals.data?.total) {
    return (
      <EmptyState icon={<CheckIcon size={24} />} title="All done">
        <p>Nothing is waiting for a decision. New requests appear here automatically.</p>
        <Link to="/" search={{ view: "all" }} className="button">See all requests</Link>
      </EmptyState>
    );
  }
  if (place.saved) {
    return (
      <EmptyState icon={<InboxIcon size={24} />} title="No requests in this view">
        <p>Requests that match its filter appear here.</p>
        <Link to="/" search={{ view: "all" }} className="button">See all requests</Link>
      </EmptyState>
    );
  }
  if (!apps.data || totals.isPending) return null;
  const [app] = apps.data;
  if (!app) {
    return (
      <EmptyState icon={<AppsIcon size={24} />} title={can("admin") ? "Create your first app" : "No apps yet"}>
        <p>
          {can("admin")
            ? "An app is a product or website that collects requests. Create one, then add its widget to your site."
            : "An app is a product or website that collects requests. Ask an admin to create one."}
        </p>
        {can("admin") && (
          <Link to="/apps" className="button button-primary">
            Create app
          </Link>
        )}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<InboxIcon size={24} />} title="No requests yet">
      <p>Add the widget to your site. New requests appear here automatically.</p>
      <div className="row">
        <Link to="/apps/$id" params={{ id: app.id }} className="button button-primary">Install the widget</Link>
        {can("member") && <Button onPress={onNew}>New request</Button>}
      </div>
    </EmptyState>
  );
}
