import { useNavigate, useParams } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { useSession } from "../api/session";
import type { Webhook } from "../api/types";
import { AdminPage } from "../team/AdminPage";
import { Button } from "../ui/Button";
import { focusPage } from "../ui/focus";
import { WebhookIcon } from "../ui/icons";
import { notify } from "../ui/notices";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { Attempts } from "./Attempts";
import { DeleteDialog } from "./DeleteDialog";
import { Disabled } from "./Disabled";
import { useSend, useTurn, useWebhooks } from "./data";
import { kindName } from "./kinds";
import { RewindDialog } from "./RewindDialog";
import { SecretSection } from "./SecretSection";
import { SentDialog } from "./SentDialog";
import { Facts, placeOf, State } from "./State";
import { WebhookForm } from "./WebhookForm";
import "./webhooks.css";

const frame = { what: "the webhooks of the team", parent: "Webhooks" } as const;

export default function WebhookPage() {
  const { can } = useSession();
  return can("admin") ? <Page /> : <AdminPage {...frame} title="Webhook">{null}</AdminPage>;
}

function Page() {
  const { id } = useParams({ from: "/inside/team/webhooks/$id" });
  const { data, error, refetch } = useWebhooks();
  const webhook = data?.find((one) => one.id === id);
  return (
    <AdminPage {...frame} title={webhook?.name ?? "Webhook"}>
      {webhook ? (
        <Sections webhook={webhook} />
      ) : data ? (
        <EmptyState icon={<WebhookIcon size={24} />} title="Webhook not found"><p>Someone may have deleted it.</p></EmptyState>
      ) : error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton lines={6} label="Loading webhook" />
      )}
    </AdminPage>
  );
}

function Sections({ webhook }: { webhook: Webhook }) {
  const [open, setOpen] = useState<"edit" | "rewind" | "delete">();
  const navigate = useNavigate();
  const turn = useTurn(webhook);
  const send = useSend(webhook.id);
  const { id, name, url, format, kinds, internal, state, health } = webhook;
  const heading = useRef<HTMLHeadingElement>(null);
  const tryNow = () => turn.mutate("on", { onSuccess: () => heading.current?.focus() }); // the button disappears
  const close = () => setOpen(undefined);
  return (
    <div className="stack">
      {state === "disabled" && <Disabled webhooks={[webhook]} />}
      <section className="card stack" aria-labelledby="hook-deliveries">
        <h2 id="hook-deliveries" ref={heading} tabIndex={-1}>Deliveries</h2>
        <div>
          <State webhook={webhook} />
          <Facts webhook={webhook} />
          <p className="quiet small number">{placeOf(health)}</p>
        </div>
        <div className="row">
          <Button kind="primary" onPress={() => send.mutate(0)}>Send a test</Button>
          <Button isPending={turn.isPending} onPress={() => turn.mutate(state === "on" ? "paused" : "on")}>
            {state === "on" ? "Pause" : "Turn on"}
          </Button>
          <Button onPress={() => setOpen("rewind")}>Replay from…</Button>
          {health.retry_at && <Button isPending={turn.isPending} onPress={tryNow}>Try now</Button>}
        </div>
      </section>
      <section className="card stack" aria-labelledby="hook-settings">
        <h2 id="hook-settings">Settings</h2>
        <dl className="hook-settings">
          <dt>Address</dt>
          <dd>{url}</dd>
          <dt>Sends</dt>
          <dd>{kinds.length ? <ul>{kinds.map((kind) => <li key={kind}>{kindName(kind)}</li>)}</ul> : "Everything"}</dd>
          <dt>Internal</dt>
          <dd>{internal ? "Public and internal events" : "Public events only"}</dd>
        </dl>
        <div className="row">
          <Button onPress={() => setOpen("edit")}>Edit…</Button>
          <Button kind="danger" onPress={() => setOpen("delete")}>Delete…</Button>
        </div>
      </section>
      {format === "events" && <SecretSection webhook={webhook} />}
      <Attempts id={id} onSend={send.mutate} />
      {!send.isIdle && <SentDialog send={send} />}
      {open === "edit" && <WebhookForm webhook={webhook} onClose={close} onSaved={() => (close(), notify("Saved."))} />}
      {open === "rewind" && <RewindDialog webhook={webhook} onClose={close} />}
      {open === "delete" && (
        <DeleteDialog
          webhook={webhook}
          onClose={close}
          onDeleted={() => {
            notify(`“${name}” deleted.`);
            void navigate({ to: "/team/webhooks" }).then(focusPage);
          }}
        />
      )}
    </div>
  );
}
