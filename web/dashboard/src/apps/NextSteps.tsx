import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { usersQuery } from "../api/queries";
import type { App, FeatureRequest } from "../api/types";
import { changeSettings, useSettings } from "../shell/settings";
import { Button } from "../ui/Button";
import { webhooksQuery } from "../webhooks/data";
import { Checklist } from "./Checklist";

// NextSteps says what helps once an app receives requests. It disappears when everything is done or the user dismisses it.
export function NextSteps({ app, latest }: { app: App; latest: FeatureRequest | null | undefined }) {
  const { dismissed } = useSettings();
  const users = useQuery(usersQuery).data;
  const webhooks = useQuery({ ...webhooksQuery, refetchInterval: false }).data;
  if (!latest || !users || !webhooks || dismissed) return null;
  const items = [
    {
      done: users.length > 1,
      title: "Invite your team",
      hint: "Colleagues triage, comment and are mentioned.",
      action: <Link to="/team" className="button button-small">Invite</Link>,
    },
    {
      done: webhooks.length > 0,
      title: "Connect Slack or another tool",
      hint: "A channel hears about new requests and changes.",
      action: <Link to="/team/webhooks" className="button button-small">Connect</Link>,
    },
    {
      done: latest.submitter.verified,
      title: "Identify people",
      hint: "Your backend signs who is logged in. People then find their ideas on every device, and you see who asked.",
      action: <Link to="/apps/$id" params={{ id: app.id }} search={{ section: "identity" }} className="button button-small">Set up</Link>,
    },
  ];
  if (items.every(({ done }) => done)) return null;
  return (
    <Checklist title="Next steps" items={items}>
      <div><Button small kind="quiet" onPress={() => changeSettings({ dismissed: true })}>Dismiss</Button></div>
    </Checklist>
  );
}
