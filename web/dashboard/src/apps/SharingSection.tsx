import type { App } from "../api/types";
import { Radios } from "../ui/choices";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

type Sharing = App["settings"]["sharing"];

const options: { id: Sharing; name: string; hint: string }[] = [
  { id: "none", name: "Nothing", hint: "People send ideas and see none. The same wish may reach you many times." },
  {
    id: "triaged",
    name: "What you have looked at",
    hint: "Requests that are under review, planned, in progress or completed. New and declined ones stay with you.",
  },
  {
    id: "all",
    name: "Everything",
    hint: "New requests too, before anybody of your team has read them. What looks like spam is never shown.",
  },
];

// What people who use the widget see of others' requests.
export function SharingSection({ app }: { app: App }) {
  const form = useSettingsForm(app, { sharing: app.settings.sharing }, (changes) => changes);
  return (
    <SettingsForm form={form}>
      <p className="quiet">
        Whoever types an idea in the widget can be shown requests like it, and vote for one instead of sending it again. They see its title,
        its status and its votes: never who sent it, its details, files or comments.
      </p>
      <Radios
        label="People see"
        value={form.value.sharing}
        options={options}
        onChange={(sharing) => form.change({ sharing })}
        error={form.faults["sharing"]}
        isDisabled={form.readOnly}
      />
    </SettingsForm>
  );
}
