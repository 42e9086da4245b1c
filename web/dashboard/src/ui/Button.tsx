import { Button as AriaButton, type ButtonProps, Tooltip, TooltipTrigger } from "react-aria-components";

import { useSettings } from "../shell/settings";
import "./button.css";

interface Props extends Omit<ButtonProps, "className" | "style"> {
  // primary: the main action. danger: an action that cannot be undone.
  kind?: "primary" | "danger" | "quiet";
  // A square button with only an icon. It needs an aria-label, which is its tooltip.
  icon?: boolean;
  small?: boolean;
  shortcut?: string; // the key that does the same; the tooltip of the aria-label shows it
}

export function Button({ kind, icon, small, shortcut, ...props }: Props) {
  const { shortcuts } = useSettings();
  const button = (
    <AriaButton
      {...props}
      className={["button", kind && `button-${kind}`, icon && "button-icon", small && "button-small"].filter(Boolean).join(" ")}
    />
  );
  if (!icon && !shortcut) return button;
  return (
    <TooltipTrigger delay={500} closeDelay={0}>
      {button}
      <Tooltip className="tooltip" placement="bottom" offset={6}>
        {props["aria-label"]}{shortcut && shortcuts && <kbd>{shortcut}</kbd>}
      </Tooltip>
    </TooltipTrigger>
  );
}
