import type { Webhook } from "../api/types";
import { WarningIcon } from "../ui/icons";

// Disabled says what to do about webhooks that the service has disabled.
export function Disabled({ webhooks }: { webhooks: Webhook[] }) {
  const [one] = webhooks;
  return (
    <div className="hook-banner">
      <WarningIcon />
      <p>
        {webhooks.length === 1 ? `“${one!.name}” is disabled.` : `${webhooks.length} webhooks are disabled.`}
        {" "}Repair the endpoint, then turn the webhook on to continue where it stopped.
      </p>
    </div>
  );
}
