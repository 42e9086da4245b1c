import type { Attempt } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { message, Skeleton } from "../ui/states";
import { Answer, Outcome } from "./Outcome";
import type { useSend } from "./data";

// SentDialog shows the result of a test, or of an event that was sent again.
export function SentDialog({ send }: { send: ReturnType<typeof useSend> }) {
  return (
    <Dialog title={send.variables ? `Resend event ${send.variables}` : "Send a test"} isOpen onClose={send.reset}>
      <div className="hook-sent" role="status">
        {send.isPending && <><p>The endpoint has 15 seconds to answer.</p><Skeleton lines={2} label="Waiting for the answer" /></>}
        {send.data && <Sent attempt={send.data} />}
        {send.error && <p className="field-error">{message(send.error)}</p>}
      </div>
      <div className="dialog-actions">
        <Button autoFocus onPress={send.reset}>Close</Button>
      </div>
    </Dialog>
  );
}

function Sent({ attempt }: { attempt: Attempt }) {
  return (
    <>
      <Outcome attempt={attempt} />
      <Answer attempt={attempt} />
    </>
  );
}
