import type { App } from "../api/types";
import { Radios, type RadioOption } from "../ui/choices";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

type Sharing = App["settings"]["sharing"];

const options: RadioOption<Sharing>[] = [
  { id: "none", name: "None", hint: "People cannot see other requests, so you may get more duplicates." },
  {
    id: "triaged",
    name: "Triaged",
    hint: "Requests that are under review, planned, in progress or completed. Open and declined requests stay private.",
  },
  {
    id: "all",
    name: "All",
    hint: "Includes requests that your team has not triaged yet. Suspected spam is never shown.",
  },
];

// withPortal are the options while the portal is on, which shows what the app shares.
const withPortal = options.map((option) =>
  option.id === "none" ? { ...option, hint: "Turn off the portal first.", isDisabled: true } : option);

export function SharingSection({ app }: { app: App }) {
  const form = useSettingsForm(app, { sharing: app.settings.sharing }, (changes) => changes);
  return (
    <SettingsForm form={form}>
      <p className="quiet">
        While people type, the widget can show them similar requests, so that they vote instead of sending a duplicate. They see the title,
        status and votes, but never the submitter, description, files or comments.
      </p>
      <Radios
        label="Visible requests"
        value={form.value.sharing}
        options={app.settings.portal.access === "off" ? options : withPortal}
        onChange={(sharing) => form.change({ sharing })}
        error={form.errors["sharing"]}
        isDisabled={form.readOnly}
      />
    </SettingsForm>
  );
}
