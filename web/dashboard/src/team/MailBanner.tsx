import { useQuery } from "@tanstack/react-query";

import { mailQuery } from "../api/queries";
import type { Unsent } from "../api/types";
import { useSession } from "../api/session";
import { WarningIcon } from "../ui/icons";
import { count, moment, Time } from "../ui/marks";

// MailBanner tells admins that mail does not work and what to do, and which mail failed.
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
      {status && status.failing > 0 && (
        <div className="card mail-banner">
          <WarningIcon size={20} />
          <div>
            <h2>{count(status.failing, "mail")} could not be sent</h2>
            <ul className="mail-failures">
              {status.failures.map((failure, n) => <FailureItem key={n} failure={failure} />)}
            </ul>
          </div>
        </div>
      )}
    </div>
  );
}

const kinds: Record<Unsent["kind"], string> = {
  confirm: "Confirmation",
  update: "Update",
  digest: "Digest",
  link: "Link",
  news: "News",
};

function FailureItem({ failure: { kind, recipient, attempts, retry_at, error } }: { failure: Unsent }) {
  return (
    <li>
      {kinds[kind]}{recipient && <> to <b>{recipient}</b></>},{" "}
      {retry_at ? <>tried {count(attempts, "time")}, next on {moment(retry_at)}</> : "given up"}
      <p className="quiet small">{error}</p>
    </li>
  );
}
