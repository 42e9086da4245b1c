import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { absolute } from "../api/base";
import { call } from "../api/call";
import { Button } from "../ui/Button";
import { copyText } from "../ui/copyText";
import { Dialog } from "../ui/Dialog";
import { CloseIcon, CopyIcon, MoreIcon } from "../ui/icons";
import { count } from "../ui/marks";
import { Menu, MenuItem } from "../ui/Menu";
import { notify, notifyError } from "../ui/notices";
import { besideQuery } from "./details";
import { UncopiedLink } from "./UncopiedLink";

const purpose = "Send it to the person wherever you talk with them. It shows them the status and your public comments.";

// StatusLinks is the menu for links that the team hands out: each shows one request to somebody outside.
export function StatusLinks({ id }: { id: string }) {
  const beside = besideQuery(id);
  const { data } = useQuery(beside);
  const client = useQueryClient();
  const [shown, setShown] = useState(""); // a link that the browser did not copy
  const [revoking, setRevoking] = useState(false);
  const links = data?.audience.links ?? 0;

  async function copy() {
    const made = call("requests-status-link", { id }).then(({ url }) => absolute(url));
    const copied = copyText(made).then(() => true, () => false);
    try {
      const url = await made;
      if (await copied) notify(`Status link copied. ${purpose}`);
      else setShown(url);
      await client.invalidateQueries(beside);
    } catch (error) {
      notifyError(error, "Could not make a status link.");
    }
  }

  async function revoke() {
    setRevoking(false);
    try {
      const { revoked } = await call("requests-revoke-links", { id });
      notify(`${count(revoked, "status link")} revoked.`);
      await client.invalidateQueries(beside);
    } catch (error) {
      notifyError(error, "Could not revoke the links.");
    }
  }

  return (
    <>
      <Menu label="More" button={<Button kind="quiet" small icon aria-label="More"><MoreIcon /></Button>}>
        <MenuItem onAction={() => void copy()}><CopyIcon size={16} />Copy status link</MenuItem>
        {links > 0 && <MenuItem danger onAction={() => setRevoking(true)}><CloseIcon size={16} />Revoke links…</MenuItem>}
      </Menu>
      <UncopiedLink url={shown} onClose={() => setShown("")}><p>{purpose}</p></UncopiedLink>
      <Dialog title="Revoke status links?" isOpen={revoking} onClose={() => setRevoking(false)}>
        <p>
          {links === 1 ? "The link" : `All ${links} links`} that your team made for this request will stop working at once. People who asked
          in the widget keep their own.
        </p>
        <div className="dialog-actions">
          <Button onPress={() => setRevoking(false)} autoFocus>Cancel</Button>
          <Button kind="danger" onPress={() => void revoke()}>Revoke</Button>
        </div>
      </Dialog>
    </>
  );
}
