import { absolute } from "../api/base";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";

// A PersonalLink lets one person set a password.
export interface PersonalLink {
  purpose: "invitation" | "recovery";
  name: string;
  link: string; // as the service gives it
  expiresAt: string;
  sentTo?: string | undefined; // the address to which the service also sends it
}

const end = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "short" });

export function LinkDialog({ link, onClose }: { link: PersonalLink | null; onClose(): void }) {
  return (
    <Dialog title={link ? titleOf(link) : ""} isOpen={link !== null} onClose={onClose}>
      {link && (
        <>
          <p>
            {link.sentTo ? `Sent to ${link.sentTo}. You can also give ` : "Give "}
            this link to {link.name} yourself. {link.name} can use it to{" "}
            {link.purpose === "recovery" ? "set a new password. This ends all their sessions." : "choose a password and join."}
          </p>
          <div className="personal-link">
            <Field
              hideLabel
              label="Link"
              value={absolute(link.link)}
              isReadOnly
              onFocus={(event) => (event.target as HTMLInputElement).select()}
            />
            <CopyButton text={absolute(link.link)} label="Copy link" />
          </div>
          <p className="quiet small">
            The link works once and expires on {end.format(new Date(link.expiresAt))}. It is not shown again: if it gets lost, create a new
            one in the team list.
          </p>
          <div className="dialog-actions">
            <Button kind="primary" onPress={onClose}>Done</Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function titleOf(link: PersonalLink): string {
  return link.purpose === "recovery" ? `Password reset for ${link.name}` : `Invitation for ${link.name}`;
}
