import type { Member } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { message } from "../ui/states";
import { useRemove } from "./changes";

export function RemoveDialog({ member, onClose }: { member: Member | null; onClose(): void }) {
  const remove = useRemove(onClose);
  const close = () => {
    remove.reset();
    onClose();
  };
  return (
    <Dialog title={member ? `Remove ${member.name}?` : ""} isOpen={member !== null} onClose={close}>
      {member && (
        <>
          <p>
            {member.invited
              ? "Their invitation link stops working at once."
              : "Their sessions and tokens end at once, and they can no longer log in. " +
                "Requests assigned to them become unassigned. Their comments stay."}
          </p>
          {remove.error && <p className="field-error" role="alert">{message(remove.error)}</p>}
          <div className="dialog-actions">
            <Button onPress={close} autoFocus>Cancel</Button>
            <Button kind="danger" isPending={remove.isPending} onPress={() => remove.mutate(member)}>Remove</Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
