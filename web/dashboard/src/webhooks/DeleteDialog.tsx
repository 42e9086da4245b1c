import { useMutation, useQueryClient } from "@tanstack/react-query";

import { ApiError, call } from "../api/call";
import type { Webhook } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { message } from "../ui/states";
import { webhooksQuery } from "./data";

interface Props {
  webhook: Webhook;
  onClose(): void;
  onDeleted(): void;
}

export function DeleteDialog({ webhook: { id, name }, onClose, onDeleted }: Props) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      call("webhooks-delete", { id }).catch((error) => {
        if (!(error instanceof ApiError && error.code === "webhooks.not_found")) throw error; // otherwise somebody was faster
      }),
    onSuccess: () => {
      onDeleted();
      return client.invalidateQueries(webhooksQuery);
    },
  });
  return (
    <Dialog title={`Delete “${name}”?`} isOpen onClose={onClose}>
      <p>Its deliveries stop at once. Its secret, its position in the log and its attempts are removed. This cannot be undone.</p>
      {remove.error && <p className="field-error" role="alert">{message(remove.error)}</p>}
      <div className="dialog-actions">
        <Button onPress={onClose} autoFocus>Cancel</Button>
        <Button kind="danger" isPending={remove.isPending} onPress={() => remove.mutate()}>Delete</Button>
      </div>
    </Dialog>
  );
}
