import { useSession } from "../api/session";
import { usePageTitle } from "../shell/title";
import { roleNames } from "../team/roles";
import { TokenSection } from "../tokens/TokenSection";
import { Digest } from "./Digest";
import { PasswordForm } from "./PasswordForm";
import { Preferences } from "./Preferences";
import { Sessions } from "./Sessions";
import "./account.css";

export default function AccountPage() {
  usePageTitle("Your account");
  const { user, account, role, mail } = useSession();
  return (
    <div className="page account">
      <div className="page-head">
        <div>
          <h1>{user.name}</h1>
          <p>{user.email} · {roleNames[role]} at {account.name}</p>
        </div>
      </div>
      <div className="stack">
        <section className="card" aria-labelledby="preferences"><h2 id="preferences">Preferences</h2><Preferences /></section>
        {mail && <section className="card" aria-labelledby="digest"><h2 id="digest">Digest by e-mail</h2><Digest /></section>}
        <section className="card" aria-labelledby="password"><h2 id="password">Password</h2><PasswordForm email={user.email} /></section>
        <section className="card" aria-labelledby="sessions"><h2 id="sessions">Sessions</h2><Sessions /></section>
        <TokenSection title="Tokens" has={(token) => token.user?.id === user.id} kind="personal">
          A script or another program calls Gatherkit with a token. Your tokens act for you, and end when you leave the team.
        </TokenSection>
      </div>
    </div>
  );
}
