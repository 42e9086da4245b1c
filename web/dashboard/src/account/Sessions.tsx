import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { ApiError, call } from "../api/call";
import { logOut } from "../api/session";
import { deviceOf } from "../text/device";
import { Button } from "../ui/Button";
import { Time } from "../ui/marks";
import { notify, notifyError } from "../ui/notices";
import { Failure, Skeleton } from "../ui/states";
import { type Session, sessionsQuery } from "./queries";

const nameOf = (session: Session) => deviceOf(session.user_agent) || "Unknown device";

export function Sessions() {
  const sessions = useQuery(sessionsQuery);
  const revoke = useRevoke();
  if (sessions.isPending) return <Skeleton lines={3} label="Loading sessions" />;
  if (!sessions.data) return <Failure error={sessions.error} onRetry={() => void sessions.refetch()} />;
  return (
    <>
      <ul className="sessions">
        {sessions.data.map((session) => (
          <li key={session.id} className="session">
            <div>
              <p>{nameOf(session)}{session.current && <span className="mark">This session</span>}</p>
              <p className="quiet small">Logged in <Time at={session.created_at} />, last active <Time at={session.used_at} /></p>
            </div>
            {!session.current && (
              <Button
                small
                isDisabled={revoke.isPending}
                onPress={() => revoke.mutate(session)}
                aria-label={`Log out ${nameOf(session)}`}
              >
                Log out
              </Button>
            )}
          </li>
        ))}
      </ul>
      <div className="row">
        <Button onPress={() => void logOut().catch((error: unknown) => notifyError(error))}>Log out</Button>
        {sessions.data.length > 1 && (
          <Button kind="danger" isPending={revoke.isPending} onPress={() => revoke.mutate("others")}>
            Log out all other sessions
          </Button>
        )}
      </div>
    </>
  );
}

function useRevoke() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (which: Session | "others") => {
      // The list on the page may be outdated.
      const ending = which === "others" ? (await call("sessions-list", {})).sessions.filter((session) => !session.current) : [which];
      for (const { id } of ending) await revoke(id);
      return ending.length;
    },
    onSuccess: (ended) => notify(ended === 1 ? "Session ended." : `${ended} sessions ended.`),
    onError: (error) => notifyError(error, "Some sessions are still active."),
    onSettled: () => client.invalidateQueries(sessionsQuery),
  });
}

// revoke ends a session. It is no error if the session has already ended.
async function revoke(id: string): Promise<void> {
  try {
    await call("sessions-revoke", { id });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "sessions.not_found")) throw error;
  }
}
