import { useQuery } from "@tanstack/react-query";

import { mailQuery } from "../api/queries";
import type { Unsent } from "../api/types";
import { useSession } from "../api/session";
import { count, moment, Time } from "../ui/marks";
import { Banner } from "./Banner";

// MailBanner tells admins that mail is off or does not work and what to do, and which mail failed.
export function MailBanner() {
  const { can, mail } = useSession();
  const { data: status } = useQuery({ ...mailQuery, enabled: mail && can("admin") });
  return (
    <div role="status">
      {!mail && can("admin") && (
        <p className="quiet small mail-off">
          E-mail is off. People follow their requests in the widget and with a private link. To send updates by e-mail, too, start
          Gatherkit with <code>--smtp</code>.
        </p>
      )}
      {status && status.state !== "ok" && (
        <Banner title={status.state === "away" ? "The mail server cannot be reached" : "The mail server refuses our mail"}>
          <p>
            It began <Time at={status.since!} />. Until it works, {count(status.waiting, "mail")} must wait. The command{" "}
            <code>gatherkit mail-test</code> shows what is wrong.
          </p>
          <p className="quiet small">{status.error}</p>
        </Banner>
      )}
      {status && status.failing > 0 && (
        <Banner title={`${count(status.failing, "mail")} could not be sent`}>
          <ul className="mail-failures">
            {status.failures.map((failure, n) => <FailureItem key={n} failure={failure} />)}
          </ul>
        </Banner>
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
