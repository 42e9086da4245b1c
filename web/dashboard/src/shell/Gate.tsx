import { useEffect, useState } from "react";

import { queryClient } from "../api/queries";
import { start, usePhase } from "../api/session";
import { LoginDialog, LoginPage } from "../pages/LoginPage";
import { Failure } from "../ui/states";
import { Shell } from "./Shell";

// Gate shows the pages to who is logged in, and else the login, in their place: so an
// address that somebody was sent opens once they are in.
export function Gate() {
  const now = usePhase();
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (now.phase !== "starting") return;
    setError(undefined);
    start().catch(setError);
  }, [attempt]);
  useEffect(() => {
    if (now.phase === "out") queryClient.clear(); // what the next one may not see
  }, [now.phase]);
  if (now.phase === "starting") return error ? <Failure error={error} onRetry={() => setAttempt(attempt + 1)} /> : null;
  if (now.phase === "out") return <LoginPage />;
  return (
    <>
      <Shell key={now.me.user.id} />
      {now.phase === "expired" && <LoginDialog email={now.me.user.email} />}
    </>
  );
}
