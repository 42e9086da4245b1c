import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

// What stands in capital letters is to be replaced.
const templates = {
  GitHub: "https://github.com/OWNER/REPOSITORY/issues/new?title={title}&body={description}%0A%0A{url}",
  Linear: "https://linear.app/WORKSPACE/team/TEAM/new?title={title}&description={description}%0A%0A{url}",
  Jira:
    "https://SITE.atlassian.net/secure/CreateIssueDetails!init.jspa" +
    "?pid=PROJECT_ID&issuetype=TYPE_ID&summary={title}&description={description}%0A%0A{url}",
};

export function IssuesSection({ app }: { app: App }) {
  const form = useSettingsForm(app, { issue_template: app.settings.issue_template }, (changes) => changes);
  const set = (template: string) => form.change({ issue_template: template.replace(/\s/g, "") });
  return (
    <SettingsForm form={form} done="Saved.">
      <p className="quiet">
        Enter the address of the page where your tracker creates issues. Each request then has a button that opens this page, filled in.
        Paste the link of the new issue into the request. Gatherkit stores no password or token of the tracker.
      </p>
      {!form.readOnly && (
        <div className="row" role="group" aria-label="Start with">
          <span className="quiet small" aria-hidden="true">Start with</span>
          {Object.entries(templates).map(([name, template]) => <Button key={name} small onPress={() => set(template)}>{name}</Button>)}
        </div>
      )}
      <Field
        label="Address for new issues"
        hint="Replace the words in capital letters. Each request fills in {title}, {description} and {url}. Leave it empty for no button."
        rows={3}
        value={form.value.issue_template}
        onChange={set}
        error={form.errors["issue_template"]}
        isDisabled={form.readOnly}
        maxLength={2_048}
        inputMode="url"
        spellCheck="false"
      />
    </SettingsForm>
  );
}
