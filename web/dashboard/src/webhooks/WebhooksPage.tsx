import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";

import type { Webhook } from "../api/types";
import { AdminPage } from "../team/AdminPage";
import { Button } from "../ui/Button";
import { focusPage } from "../ui/focus";
import { PlusIcon, WebhookIcon } from "../ui/icons";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { Disabled } from "./Disabled";
import { useTurn, useWebhooks } from "./data";
import { Facts, State } from "./State";
import { WebhookForm } from "./WebhookForm";
import "./webhooks.css";

export default function WebhooksPage() {
  return (
    <AdminPage title="Webhooks" about="Send events to Slack or your own service in real time." what="the webhooks of the team">
      <List />
    </AdminPage>
  );
}

function List() {
  const { data: webhooks, error, refetch } = useWebhooks();
  const [creating, setCreating] = useState(false);
  const navigate = useNavigate();
  if (!webhooks) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Skeleton lines={4} label="Loading webhooks" />;
  const disabled = webhooks.filter(({ state }) => state === "disabled");
  const create = <Button kind="primary" onPress={() => setCreating(true)}><PlusIcon size={16} />New webhook</Button>;
  return (
    <div className="stack">
      {webhooks.length === 0 ? (
        <EmptyState icon={<WebhookIcon size={24} />} title="No webhooks yet">
          <p>Send new requests to Slack, Discord or Teams, or every change to your own service.</p>
          {create}
        </EmptyState>
      ) : (
        <>
          <div>{create}</div>
          {disabled.length > 0 && <Disabled webhooks={disabled} />}
          <ul className="hooks" aria-label="Webhooks">{webhooks.map((webhook) => <Row key={webhook.id} webhook={webhook} />)}</ul>
        </>
      )}
      {creating && (
        <WebhookForm
          onClose={() => setCreating(false)}
          onSaved={({ id }) => void navigate({ to: "/team/webhooks/$id", params: { id } }).then(focusPage)}
        />
      )}
    </div>
  );
}

function Row({ webhook }: { webhook: Webhook }) {
  const turn = useTurn(webhook);
  const link = useRef<HTMLAnchorElement>(null);
  const turnOn = () => turn.mutate("on", { onSuccess: () => link.current?.focus() }); // the button disappears
  const { id, name, state } = webhook;
  return (
    <li className="hook">
      <div>
        <Link ref={link} to="/team/webhooks/$id" params={{ id }} className="hook-name">{name}</Link>
        <State webhook={webhook} />
        <Facts webhook={webhook} />
      </div>
      {state !== "on" && <Button small aria-label={`Turn on ${name}`} isPending={turn.isPending} onPress={turnOn}>Turn on</Button>}
    </li>
  );
}
