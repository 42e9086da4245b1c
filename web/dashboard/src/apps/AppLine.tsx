import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import type { App } from "../api/types";
import { AppMark, count, number, Time } from "../ui/marks";
import { latestQuery } from "./data";

// AppLine is an app in the list, with its latest request and its number of open requests.
export function AppLine({ app, open }: { app: App; open: { count: number; exact: boolean } | undefined }) {
  const latest = useQuery(latestQuery(app.id));
  const request = latest.data?.request;
  return (
    <li className="card app-line">
      <span className="app-dot"><AppMark app={app} /></span>
      <h2>
        <Link to="/apps/$id" params={{ id: app.id }} className="app-link">
          {app.name}
        </Link>
      </h2>
      <p className="app-latest">
        {request && <><span className="app-latest-title">{request.title}</span> <Time at={request.created_at} /></>}
        {request === null && <Link to="/apps/$id" params={{ id: app.id }}>Install the widget</Link>}
        {latest.isError && "Could not load the latest request."}
      </p>
      <p className="app-counts number">
        {latest.data && (
          <Link to="/" search={{ app: app.id }}>
            {count(latest.data.total, "request")}
          </Link>
        )}
        {open && open.count > 0 && (
          <Link to="/" search={{ app: app.id, status: ["opened"] }} className="app-open">
            {number(open.count)}
            {!open.exact && "+"} open
          </Link>
        )}
      </p>
    </li>
  );
}
