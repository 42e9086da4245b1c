import { useEffect, useState } from "react";

import { start, usePhase } from "../api/session";
import { LoginDialog, LoginPage } from "../pages/LoginPage";
import { clearNotices } from "../ui/notices";
import { Failure } from "../ui/states";
import { Shell } from "./Shell";

// Gate shows the login instead of a page until the user is logged in. The address stays the
// same, so a shared link opens after the login.
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
    if (now.phase === "left") clearNotices(); // they name requests
  }, [now.phase]);
  if (now.phase === "starting") {
    return error ? (
      <Failure alone error={error} onRetry={() => setAttempt(attempt + 1)} />
    ) : (
      <p className="starting" role="status">
        Loading Gatherkit…
      </p>
    );
  }
  if (now.phase === "out" || now.phase === "left") return <LoginPage />;
  return (
    <>
      <Shell />
      {now.phase === "expired" && <LoginDialog email={now.me.user.email} />}
    </>
  );
}
