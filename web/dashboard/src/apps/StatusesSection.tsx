import { choosableStatuses, statusNames, type App } from "../api/types";
import { Field } from "../ui/Field";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

type Labels = Record<(typeof choosableStatuses)[number], string>;

// each makes an object with an entry for each status.
const each = <T,>(of: (status: keyof Labels) => T) =>
  Object.fromEntries(choosableStatuses.map((status) => [status, of(status)])) as Record<keyof Labels, T>;

export function StatusesSection({ app }: { app: App }) {
  const form = useSettingsForm<Labels>(app, each((status) => app.settings.statuses[status].label), (changes) => ({
    statuses: Object.fromEntries(Object.entries(changes).map(([status, label]) => [status, { label: label.trim() }])),
  }));
  return (
    <SettingsForm form={form}>
      <p className="quiet">
        Call a status what your users call it. They see the name in the widget and in mails, and your team sees it here and in exports.
        Leave a field empty for the usual name.
      </p>
      {choosableStatuses.map((status) => (
        <Field
          key={status}
          label={statusNames[status]}
          placeholder={statusNames[status]}
          value={form.value[status]}
          onChange={(label) => form.change({ [status]: label })}
          error={form.errors[status]}
          isDisabled={form.readOnly}
          maxLength={40}
        />
      ))}
    </SettingsForm>
  );
}
