import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { useSession } from "../api/session";
import type { Token } from "../api/types";
import { tokensQuery } from "../tokens/data";
import { TokenSection } from "../tokens/TokenSection";
import { AdminPage } from "./AdminPage";

export default function TokensPage() {
  return (
    <AdminPage title="Tokens" about="Scripts and other programs call Gatherkit with a token." what="the tokens of the team">
      <Sections />
    </AdminPage>
  );
}

function Sections() {
  const { user } = useSession();
  const { data: tokens } = useQuery(tokensQuery);
  const ofOthers = (token: Token) => token.user !== null && token.user.id !== user.id;
  return (
    <div className="stack">
      <TokenSection title="Service tokens" has={({ kind }) => kind === "service"} kind="service">
        A service token belongs to the account and keeps working when people leave. Use it for a CI job or an integration. Tokens that act
        for you are in <Link to="/account">your account</Link>.
      </TokenSection>
      {tokens?.some(ofOthers) && (
        <TokenSection title="Personal tokens of others" has={ofOthers}>
          A personal token acts for its user and ends when the user is removed.
        </TokenSection>
      )}
    </div>
  );
}
