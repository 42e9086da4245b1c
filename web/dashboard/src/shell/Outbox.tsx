import { useOutbox } from "../api/outbox";
import { usePhase } from "../api/session";
import { count } from "../ui/marks";

// Outbox says how many changes wait until the service answers, or until their user logs in.
export function Outbox() {
  const { waiting, stopped } = useOutbox();
  const now = usePhase();
  const changes = count(waiting, "change");
  return (
    <div role="status">
      {stopped && waiting > 0 && (
        <div className="notice notice-waiting">
          {now.phase === "in" ? `Offline, ${changes} waiting` : `${changes} waiting. Log in as ${"me" in now ? now.me.user.email : ""}.`}
        </div>
      )}
    </div>
  );
}
