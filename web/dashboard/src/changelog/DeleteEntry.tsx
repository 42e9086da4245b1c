import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { ApiError, call } from "../api/call";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { focusPage } from "../ui/focus";
import { FormError } from "../ui/FormError";
import { notify } from "../ui/notices";
import type { Entry } from "./queries";

// DeleteEntry asks before it deletes an entry.
export function DeleteEntry({ entry: { id, app_id, title, state }, onClose }: { entry: Entry; onClose(): void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm([], async () => {
    await call("entries-delete", { id }).catch((error) => {
      if (!(error instanceof ApiError && error.code === "entries.not_found")) throw error; // otherwise somebody was faster
    });
    onClose();
    await navigate({ to: "/apps/$id", params: { id: app_id }, search: { section: "changelog" } }).then(focusPage);
    await client.invalidateQueries({ queryKey: ["entries", "list", app_id] });
    notify(`“${title}” deleted.`);
  });
  return (
    <Dialog title={`Delete “${title}”?`} isOpen onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit}>
        <p>{state === "published" && "People can no longer read it. "}This cannot be undone.</p>
        <FormError error={form.error} />
        <div className="dialog-actions">
          <Button onPress={onClose} autoFocus>Cancel</Button>
          <Button type="submit" kind="danger" isPending={form.sending}>Delete</Button>
        </div>
      </form>
    </Dialog>
  );
}
