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

// FirstRequest waits for a request of the app and says when one arrives. It asks only while
// the page is seen.
export function FirstRequest({ app }: { app: App }) {
  const session = useSession();
  const latest = useQuery({ ...latestQuery(app.id), refetchInterval: pause });
  const test = useMutation({ mutationFn: () => sendTest(app, session), onSuccess: () => latest.refetch() });
  const before = useRef<string | null>(undefined); // the newest when this was opened
  const request = latest.data?.request;
  if (request !== undefined && before.current === undefined) before.current = request?.id ?? null;
  const arrived = request && request.id !== before.current ? request : undefined;
  return (
    <section className="card first-request" aria-labelledby="first-request-title">
      <h3 id="first-request-title" className="visually-hidden">Does it work?</h3>
      {request === undefined && !latest.isError && <Skeleton lines={2} label="Looking for requests" />}
      {request === undefined && latest.isError && <p className="quiet">{message(latest.error)} This page goes on asking.</p>}
      {request === null && <Waiting />}
      <div role="status">{arrived && <Arrived key={arrived.id} request={arrived} />}</div>
      {request && !arrived && <p>Requests arrive here. The latest is <b>{request.title}</b>, <Time at={request.created_at} />.</p>}
      <div className="row">
        {request && (
          <Link to="/" search={{ app: app.id, request: request.id }} className={arrived ? "button button-primary" : "button"}>
            Open it in the inbox
          </Link>
        )}
        {session.can("member") && (
          <Button onPress={() => test.mutate()} isPending={test.isPending}>
            Send a test request
          </Button>
        )}
      </div>
      {test.isError && <p className="field-error" role="alert">{message(test.error)}</p>}
      {test.data && <TestNote way={test.data} />}
    </section>
  );
}

function Waiting() {
  return (
    <div className="waiting">
      <span className="waiting-mark" aria-hidden="true"><span /><span /></span>
      <div>
        <p><b>Waiting for your first request…</b></p>
        <p className="quiet small">Send one by the widget on your page. It shows here as soon as it is stored.</p>
      </div>
    </div>
  );
}

function Arrived({ request }: { request: FeatureRequest }) {
  return (
    <div className="waiting arrived">
      <span className="arrived-mark" aria-hidden="true"><CheckIcon size={20} /></span>
      <div>
        <p><b>It has arrived: {request.title}</b></p>
        <p className="quiet small">Sent <Time at={request.created_at} />{request.submitter.name && ` by ${request.submitter.name}`}.</p>
      </div>
    </div>
  );
}

function TestNote({ way }: { way: "key" | "hand" }) {
  if (way === "key") return <p className="quiet small">The test went the widget’s way, with the app’s key: the key works.</p>;
  return (
    <p className="quiet small">
      This page’s origin, {location.origin}, is not among the app’s allowed origins, so its key does not work here. The test was written
      down in your name instead. On the pages that you allow, the key works.
    </p>
  );
}
