import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { queryClient } from "../api/queries";
import type { App } from "../api/types";
import { useChanges } from "../requests/changes";
import { requestQuery } from "../requests/rows";
import { useStatusName } from "../requests/statuses";
import { Button } from "../ui/Button";
import { count, number, StatusMark } from "../ui/marks";
import { notifyError } from "../ui/notices";
import { Failure, Skeleton } from "../ui/states";
import { checkQuery, numberQuery, type Checked, type Sharing } from "./queries";

const places = { title: "in the title", description: "in the description", comment: "in a public comment" };

// Check says what people outside would see with this sharing, and hides what they should not.
export function Check({ app, sharing }: { app: App; sharing: Sharing }) {
  const check = useQuery(checkQuery(app.id, sharing));
  if (check.isPending) return <Skeleton lines={5} label="Checking what becomes public" />;
  if (check.isError) return <Failure error={check.error} onRetry={() => void check.refetch()} />;
  return (
    <>
      <Counts app={app} statuses={check.data.statuses} />
      {app.settings.portal.access === "off" && <HideOld app={app} statuses={check.data.statuses} />}
      <Addresses found={check.data.found} />
    </>
  );
}

function Counts({ app, statuses }: { app: App; statuses: Checked["statuses"] }) {
  const nameOf = useStatusName();
  const total = statuses.reduce((sum, one) => sum + one.would_show, 0);
  return (
    <>
      <p role="status">{count(total, "request")} on the portal</p>
      <table className="portal-counts">
        <thead>
          <tr><th scope="col">Status</th><th scope="col">On the portal</th><th scope="col">Hidden</th></tr>
        </thead>
        <tbody>
          {statuses.map(({ status, would_show, hidden }) => (
            <tr key={status}>
              <th scope="row"><StatusMark status={status} name={nameOf(status, app.id)} /></th>
              {[{ n: would_show, hidden: false }, { n: hidden, hidden: true }].map((one) => (
                <td key={String(one.hidden)} className="number">
                  {one.n > 0 ? (
                    <Link
                      to="/"
                      search={{ view: "all", app: app.id, status: [status], hidden: one.hidden }}
                      aria-label={`${number(one.n)} ${one.hidden ? "hidden" : "on the portal"}, ${nameOf(status, app.id)}`}
                    >
                      {number(one.n)}
                    </Link>
                  ) : (
                    "0"
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

// HideOld hides what was written before the portal: people who wrote it did not know that others would read it.
function HideOld({ app, statuses }: { app: App; statuses: Checked["statuses"] }) {
  const [today] = useState(() => new Date(new Date().setHours(0, 0, 0, 0)).toISOString());
  const { update } = useChanges();
  const where = { app_id: app.id, status: statuses.map(({ status }) => status), created_before: today, hidden: false };
  const { data: old = 0 } = useQuery(numberQuery(where));
  if (old === 0) return null;
  return (
    <div className="portal-note">
      <p>
        {count(old, "request was", "requests were")} written before today. The people who wrote them did not know that they would become
        public.
      </p>
      <Button onPress={() => void update({ matching: where, count: old }, { hidden: true })}>Hide these requests</Button>
    </div>
  );
}

function Addresses({ found }: { found: Checked["found"] }) {
  const { update } = useChanges();
  if (found.length === 0) return null;
  async function hide(id: string) {
    try {
      await update({ requests: [await queryClient.fetchQuery(requestQuery(id))] }, { hidden: true });
    } catch (error) {
      notifyError(error, "Could not hide the request.");
    }
  }
  return (
    <div className="portal-note">
      <h4>E-mail addresses in texts</h4>
      <p>Read these requests before others do. Edit the text, or hide the request.</p>
      <ul className="portal-found" aria-label="Requests with an e-mail address">
        {found.map(({ id, title, in: place }) => (
          <li key={id}>
            <span>
              <Link to="/" search={{ view: "all", request: id }}>{title}</Link> <span className="quiet small">{places[place]}</span>
            </span>
            <Button small aria-label={`Hide ${title}`} onPress={() => void hide(id)}>Hide</Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
