import { useQuery } from "@tanstack/react-query";

import { mailQuery } from "../api/queries";
import { useSession } from "../api/session";
import { WarningIcon } from "../ui/icons";
import { count, Time } from "../ui/marks";

// MailBanner tells admins that mail does not work, and what to do.
export function MailBanner() {
  const { can, mail } = useSession();
  const { data: status } = useQuery({ ...mailQuery, enabled: mail && can("admin") });
  return (
    <div role="status">
      {status && status.state !== "ok" && (
        <div className="card mail-banner">
          <WarningIcon size={20} />
          <div>
            <h2>{status.state === "away" ? "The mail server cannot be reached" : "The mail server refuses our mail"}</h2>
            <p>
              It began <Time at={status.since!} />. {count(status.waiting, "mail")}{" "}
              {status.waiting === 1 ? "waits and is" : "wait and are"} sent as soon as it works. The command{" "}
              <code>gatherkit mail-test</code> shows what is wrong.
            </p>
            <p className="quiet small">{status.error}</p>
          </div>
        </div>
      )}
    </div>
  );
}
