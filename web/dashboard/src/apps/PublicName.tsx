import type { App } from "../api/types";
import { Field } from "../ui/Field";

interface Props {
  app: App;
  value: string;
  onChange(value: string): void;
  error?: string | undefined;
  isDisabled: boolean;
}

// PublicName is the field for what the app is called outside the team.
export function PublicName({ app, ...field }: Props) {
  return (
    <Field
      label="Public name (optional)"
      hint="Customers see this name on the portal, in e-mails and on their page. Leave empty to use the app’s name."
      placeholder={app.name}
      maxLength={100}
      {...field}
    />
  );
}
