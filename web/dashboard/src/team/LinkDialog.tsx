import { absolute } from "../api/base";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";

// A link that lets one person in.
export interface PersonalLink {
  purpose: "invitation" | "recovery";
  name: string;
  link: string; // as the service gives it
  expiresAt: string;
}

const end = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "short" });

export function LinkDialog({ link, onClose }: { link: PersonalLink | null; onClose(): void }) {
  return (
    <Dialog title={link ? titleOf(link) : ""} isOpen={link !== null} onClose={onClose}>
      {link && (
        <>
          <p>
            Gatherkit sends no mail: send {link.name} this link yourself. With it they choose{" "}
            {link.purpose === "recovery" ? "a new password, which ends all their sessions" : "a password and are in"}.
          </p>
          <div className="personal-link">
            <Field
              bare
              label="Link"
              value={absolute(link.link)}
              isReadOnly
              onFocus={(event) => (event.target as HTMLInputElement).select()}
            />
            <CopyButton text={absolute(link.link)} label="Copy the link" />
          </div>
          <p className="quiet small">
            It works once, until {end.format(new Date(link.expiresAt))}. It is shown only now; when it gets lost, make a new one from the
            list.
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
  return link.purpose === "recovery" ? `A way back in for ${link.name}` : `Invitation for ${link.name}`;
}
