import { choosableStatuses, statusNames, type App } from "../api/types";
import { Switch } from "../ui/choices";
import { Field } from "../ui/Field";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

type Settings = App["settings"]["statuses"];

export function StatusesSection({ app }: { app: App }) {
  const form = useSettingsForm<Settings>(app, app.settings.statuses, (changes) => ({
    statuses: Object.fromEntries(
      Object.entries(changes).map(([status, { label, roadmap }]) => [status, { label: label.trim(), roadmap }]),
    ),
  }));
  return (
    <SettingsForm form={form}>
      <p className="quiet">
        Call a status what your users call it. They see the name in the widget, on the portal and in e-mails, and your team sees it here and
        in exports. Your own name is the same in every language. Leave a field empty for the usual name, which people see in their own
        language.
      </p>
      {choosableStatuses.map((status) => {
        const setting = form.value[status];
        const name = statusNames[status];
        return (
          <div key={status}>
            <Field
              label={name}
              placeholder={name}
              value={setting.label}
              onChange={(label) => form.change({ [status]: { ...setting, label } })}
              error={form.errors[status]}
              isDisabled={form.readOnly}
              maxLength={40}
            />
            <Switch
              isSelected={setting.roadmap}
              onChange={(roadmap) => form.change({ [status]: { ...setting, roadmap } })}
              isDisabled={form.readOnly}
            >
              Show on the roadmap<span className="visually-hidden"> of the portal: {name}</span>
            </Switch>
          </div>
        );
      })}
    </SettingsForm>
  );
}
