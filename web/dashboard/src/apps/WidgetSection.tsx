import { useRef } from "react";

import type { App } from "../api/types";
import { Radios, Switch } from "../ui/choices";
import { Field } from "../ui/Field";
import { ColorField } from "./ColorField";
import { isColor } from "./contrast";
import { CornerField } from "./CornerField";
import { Preview } from "./Preview";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

const emails = {
  hidden: { show_email_field: false, require_email: false },
  optional: { show_email_field: true, require_email: false },
  required: { show_email_field: true, require_email: true },
};

const emailOptions: { id: keyof typeof emails; name: string; hint?: string }[] = [
  { id: "hidden", name: "Hidden" },
  { id: "optional", name: "Optional" },
  { id: "required", name: "Required", hint: "People cannot send a request without an e-mail address." },
];

export function WidgetSection({ app }: { app: App }) {
  const saved = app.settings.widget;
  const form = useSettingsForm(app, saved, (widget) => ({ widget }));
  const { value, change, errors, readOnly } = form;
  const color = useRef(saved.primary_color); // the last valid color, for the preview
  if (isColor(value.primary_color)) color.current = value.primary_color;
  return (
    <div className="widget-section">
      <SettingsForm form={form}>
        <ColorField
          value={value.primary_color}
          onChange={(primary_color) => change({ primary_color })}
          error={errors["primary_color"]}
          isDisabled={readOnly}
        />
        <Field
          label="Button text"
          value={value.button_text}
          onChange={(button_text) => change({ button_text })}
          error={errors["button_text"]}
          hint="The same in every language."
          maxLength={40}
          isDisabled={readOnly}
        />
        <CornerField value={value.position} onChange={(position) => change({ position })} isDisabled={readOnly} />
        <Radios
          label="E-mail field"
          value={value.require_email ? "required" : value.show_email_field ? "optional" : "hidden"}
          options={emailOptions}
          onChange={(choice) => change(emails[choice])}
          error={errors["show_email_field"] ?? errors["require_email"]}
          isDisabled={readOnly}
        />
        <Switch
          isSelected={value.allow_file_uploads}
          onChange={(allow_file_uploads) => change({ allow_file_uploads })}
          isDisabled={readOnly}
          hint="Up to 5 images, PDFs or text files."
        >
          Allow file uploads
        </Switch>
      </SettingsForm>
      <Preview widget={{ ...value, primary_color: color.current }} sharing={app.settings.sharing} />
    </div>
  );
}
