import { Button as AriaButton, type ButtonProps } from "react-aria-components";

import "./button.css";

interface Props extends Omit<ButtonProps, "className" | "style"> {
  // primary: the main action. danger: an action that cannot be undone.
  kind?: "primary" | "danger" | "quiet";
  // A square button with only an icon. It needs an aria-label.
  icon?: boolean;
  small?: boolean;
}

export function Button({ kind, icon, small, ...props }: Props) {
  return (
    <AriaButton
      {...props}
      className={["button", kind && `button-${kind}`, icon && "button-icon", small && "button-small"].filter(Boolean).join(" ")}
    />
  );
}
