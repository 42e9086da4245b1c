import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";

import { useSession } from "../api/session";
import type { App, FeatureRequest } from "../api/types";
import { Button } from "../ui/Button";
import { CheckIcon } from "../ui/icons";
import { Time } from "../ui/marks";
import { message, Skeleton } from "../ui/states";
import { latestQuery } from "./data";
import { sendTest } from "./testRequest";

const pause = 2_500;

// FirstRequest waits for a request of the app and shows it. It polls only while the page is
// visible.
export function FirstRequest({ app }: { app: App }) {
  const session = useSession();
  const latest = useQuery({ ...latestQuery(app.id), refetchInterval: pause });
  const test = useMutation({ mutationFn: () => sendTest(app, session), onSuccess: () => latest.refetch() });
  const before = useRef<string | null>(undefined); // the latest request when the page opened
  const request = latest.data?.request;
  if (request !== undefined && before.current === undefined) before.current = request?.id ?? null;
  const arrived = request && request.id !== before.current ? request : undefined;
  return (
    <section className="card first-request" aria-labelledby="first-request-title">
      <h3 id="first-request-title" className="visually-hidden">Test your installation</h3>
      {request === undefined && !latest.isError && <Skeleton lines={2} label="Loading requests" />}
      {request === undefined && latest.isError && <p className="quiet">{message(latest.error)} Retrying…</p>}
      {request === null && <Waiting />}
      <div role="status">{arrived && <Arrived key={arrived.id} request={arrived} />}</div>
      {request && !arrived && <p>Latest request: <b>{request.title}</b>, <Time at={request.created_at} />.</p>}
      <div className="row">
        {request && (
          <Link to="/" search={{ app: app.id, request: request.id }} className={arrived ? "button button-primary" : "button"}>
            Open in inbox
          </Link>
        )}
        {session.can("member") && (
          <Button onPress={() => test.mutate()} isPending={test.isPending}>
            Send test request
          </Button>
        )}
      </div>
      {test.isError && <p className="field-error" role="alert">{message(test.error)}</p>}
      {test.data && <TestNote sender={test.data} />}
    </section>
  );
}

function Waiting() {
  return (
    <div className="waiting">
      <span className="waiting-mark" aria-hidden="true"><span /><span /></span>
      <div>
        <div><b>Waiting for your first request…</b></div>
        <p className="quiet small">Send one with the widget on your site. It appears here as soon as it arrives.</p>
      </div>
    </div>
  );
}

function Arrived({ request }: { request: FeatureRequest }) {
  return (
    <div className="waiting arrived">
      <span className="arrived-mark" aria-hidden="true"><CheckIcon size={20} /></span>
      <div>
        <div><b>Request received: {request.title}</b></div>
        <p className="quiet small">Sent <Time at={request.created_at} />{request.submitter.name && ` by ${request.submitter.name}`}.</p>
      </div>
    </div>
  );
}

function TestNote({ sender }: { sender: "widget" | "dashboard" }) {
  if (sender === "widget") return <p className="quiet small">The test used the app’s API key, as the widget does. The key works.</p>;
  return (
    <p className="quiet small">
      This page’s origin, {location.origin}, is not an allowed origin, so the dashboard created the test request itself. The API key works
      on pages with an allowed origin.
    </p>
  );
}
