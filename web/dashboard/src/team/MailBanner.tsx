import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { mailQuery } from "../api/queries";
import type { Unsent } from "../api/types";
import { useSession } from "../api/session";
import { WarningIcon } from "../ui/icons";
import { count, moment, number, Time } from "../ui/marks";

// MailBanner tells admins that mail is off or does not work and what to do, which mail failed, and that a limit is near.
export function MailBanner() {
  const { can, mail } = useSession();
  const { data: status } = useQuery({ ...mailQuery, enabled: mail && can("admin") });
  const today = status?.today;
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
      {today && (
        <>
          <Used n={today.mails} most={today.most_mails} what="mails written today">
            News beyond the limit waits until midnight UTC.
          </Used>
          <Used n={today.verified} most={today.most_verified} what="people verified today">
            People beyond the limit are asked to confirm their address, until midnight UTC.
          </Used>
        </>
      )}
    </div>
  );
}

// Used says that most of a limit is used.
function Used({ n, most, what, children }: { n: number; most: number | null; what: string; children: string }) {
  return most && n >= 0.8 * most && (
    <Banner title={`${number(n)} of ${number(most)} ${what}`}><p>{children}</p></Banner>
  );
}

function Banner({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="card mail-banner">
      <WarningIcon size={20} />
      <div>
        <h2>{title}</h2>
        {children}
      </div>
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
