import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import type { Member } from "../api/types";
import { usePageTitle } from "../shell/title";
import { Button } from "../ui/Button";
import { HistoryIcon, InsightsIcon, KeyIcon, PersonIcon, PlusIcon, WebhookIcon } from "../ui/icons";
import { count } from "../ui/marks";
import { Failure, Skeleton } from "../ui/states";
import { InviteDialog } from "./InviteDialog";
import { LinkDialog, type PersonalLink } from "./LinkDialog";
import { MailBanner } from "./MailBanner";
import { QuotaBanner } from "./QuotaBanner";
import { MemberRow } from "./MemberRow";
import { RemoveDialog } from "./RemoveDialog";
import "./team.css";

export default function TeamPage() {
  usePageTitle("Team");
  const { can } = useSession();
  const users = useQuery(usersQuery);
  const [inviting, setInviting] = useState(false);
  const [link, setLink] = useState<PersonalLink | null>(null);
  const [leaving, setLeaving] = useState<Member | null>(null);
  return (
    <div className="page team">
      <div className="page-head">
        <div>
          <h1>Team</h1>
          <p>{users.data ? count(users.data.length, "person", "people") : "Everyone with access to this account"}</p>
        </div>
        {can("admin") && <Button kind="primary" onPress={() => setInviting(true)}><PlusIcon size={16} />Invite</Button>}
      </div>
      {can("admin") && (
        <nav className="row team-links" aria-label="Account">
          <Link to="/team/tokens" className="button"><KeyIcon size={16} />Tokens</Link>
          <Link to="/team/webhooks" className="button"><WebhookIcon size={16} />Webhooks</Link>
          <Link to="/team/people" className="button"><PersonIcon size={16} />Personal data</Link>
          <Link to="/team/usage" className="button"><InsightsIcon size={16} />Usage</Link>
          <Link to="/team/audit" className="button"><HistoryIcon size={16} />Audit log</Link>
        </nav>
      )}
      <MailBanner />
      <QuotaBanner />
      {users.isPending && <Skeleton lines={4} label="Loading team" />}
      {users.isError && !users.data && <Failure error={users.error} onRetry={() => void users.refetch()} />}
      {users.data && (
        <ul className="members" aria-label="Team">
          {users.data.map((member) => <MemberRow key={member.id} member={member} onLink={setLink} onRemove={() => setLeaving(member)} />)}
        </ul>
      )}
      {users.data?.length === 1 && can("admin") && (
        <p className="quiet team-alone">You are the only one here. Invite your team: all they need is a link.</p>
      )}
      <InviteDialog isOpen={inviting} onClose={() => setInviting(false)} onLink={setLink} />
      <LinkDialog link={link} onClose={() => setLink(null)} />
      <RemoveDialog member={leaving} onClose={() => setLeaving(null)} />
    </div>
  );
}
