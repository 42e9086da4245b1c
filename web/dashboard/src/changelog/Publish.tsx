import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { call, type Result } from "../api/call";
import { useForm } from "../pages/useForm";
import { QuietSwitch } from "../requests/SeenBy";
import { Button } from "../ui/Button";
import { Radios, Switch } from "../ui/choices";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { isoTime, localTime } from "../ui/localTime";
import { count } from "../ui/marks";
import { notify } from "../ui/notices";
import { message } from "../ui/states";
import { audienceQuery, type Entry } from "./queries";

interface Props {
  entry: Entry;
  onClose(): void;
  onDone(entry: Entry): void;
}

type When = "now" | "later";

const times: { id: When; name: string }[] = [
  { id: "now", name: "Now" },
  { id: "later", name: "At a time" },
];

// Publish publishes an entry now or later, and can complete the requests that it is about.
export function Publish({ entry, onClose, onDone }: Props) {
  const { id, request_ids, publish_at } = entry;
  const [when, setWhen] = useState<When>(publish_at ? "later" : "now");
  const [at, setAt] = useState(() => localTime(publish_at ? new Date(publish_at) : new Date(Date.now() + 86_400_000)));
  const [complete, setComplete] = useState(entry.complete);
  const [quiet, setQuiet] = useState(entry.quiet);
  const audience = useQuery({ ...audienceQuery(id), enabled: request_ids.length > 0 });
  const form = useForm(["at"], async () => {
    const { entry: now } = await call("entries-publish", {
      id,
      ...(when === "later" && { at: isoTime(at) }),
      ...(complete && { complete, quiet }),
    });
    onDone(now);
    notify(when === "later" ? "Scheduled." : "Published.");
    onClose();
  }, when === "later" ? { at } : {});
  return (
    <Dialog title="Publish" isOpen onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit}>
        <Radios<When> label="When" value={when} options={times} onChange={setWhen} />
        {when === "later" && (
          <Field
            label="Time"
            type="datetime-local"
            value={at}
            onChange={setAt}
            error={form.errorOf("at") && "Choose a time in the future."}
          />
        )}
        {request_ids.length > 0 && (
          <>
            <Switch isSelected={complete} onChange={setComplete} hint={audience.data && sentence(audience.data, quiet)}>
              Complete the linked requests
            </Switch>
            {audience.error && <p className="field-error" role="alert">{message(audience.error)}</p>}
            {complete && <QuietSwitch quiet={quiet} onQuiet={setQuiet} />}
          </>
        )}
        <FormError error={form.error} />
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={form.sending}>{when === "later" ? "Schedule" : "Publish"}</Button>
        </div>
      </form>
    </Dialog>
  );
}

// sentence says what completing the requests does.
function sentence({ requests, people }: Result<"entries-get">["audience"], quiet: boolean): string {
  if (requests === 0) return "All of them are completed already.";
  return `Completes ${count(requests, "request")} and tells ${quiet || people === 0 ? "nobody" : count(people, "person", "people")}.`;
}
