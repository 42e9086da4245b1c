import { useRef } from "react";

import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

// The words in capital letters are to be replaced.
const templates = {
  GitHub: "https://github.com/OWNER/REPOSITORY/issues/new?title={title}&body={description}%0A%0A{url}",
  Linear: "https://linear.app/WORKSPACE/team/TEAM/new?title={title}&description={description}%0A%0A{url}",
  Jira:
    "https://SITE.atlassian.net/secure/CreateIssueDetails!init.jspa" +
    "?pid=PROJECT_ID&issuetype=TYPE_ID&summary={title}&description={description}%0A%0A{url}",
};

const toReplace = /\b(OWNER|REPOSITORY|WORKSPACE|TEAM|SITE|PROJECT_ID|TYPE_ID)\b/;

export function IssuesSection({ app }: { app: App }) {
  const form = useSettingsForm(app, { issue_template: app.settings.issue_template }, (changes) => changes);
  const field = useRef<HTMLTextAreaElement>(null);
  const left = toReplace.exec(form.value.issue_template)?.[0];
  const set = (template: string) => form.change({ issue_template: template.replace(/\s/g, "") });
  return (
    <SettingsForm form={left ? { ...form, save: () => field.current?.focus() } : form} done="Saved.">
      <p className="quiet">
        Enter the address of the page where your tracker creates issues. Each request then has a button that opens this page and fills
        in the request. Paste the link of the new issue into the request. Gatherkit stores no password or token of the tracker.
      </p>
      {!form.readOnly && (
        <div className="row" role="group" aria-label="Start with">
          <span className="quiet small" aria-hidden="true">Start with</span>
          {Object.entries(templates).map(([name, template]) => <Button key={name} small onPress={() => set(template)}>{name}</Button>)}
        </div>
      )}
      <Field
        label="Address for new issues"
        hint="{title}, {description} and {url} stand for those of the request. Without an address, there is no button."
        rows={3}
        area={{ ref: field }}
        value={form.value.issue_template}
        onChange={set}
        error={left ? `Replace ${left} with your own.` : form.errors["issue_template"]}
        isDisabled={form.readOnly}
        maxLength={2_048}
        inputMode="url"
        spellCheck="false"
      />
    </SettingsForm>
  );
}
