import type { ReactElement, ReactNode } from "react";
import { Menu as AriaMenu, MenuItem as AriaMenuItem, MenuTrigger, Popover, type MenuItemProps } from "react-aria-components";

import "./menu.css";

// Menu is a button that opens a menu.
export function Menu({ button, label, children }: { button: ReactElement; label: string; children: ReactNode }) {
  return (
    <MenuTrigger>
      {button}
      <Popover className="popover">
        <AriaMenu className="menu" aria-label={label}>{children}</AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}

export function MenuItem({ danger, ...props }: Omit<MenuItemProps, "className"> & { danger?: boolean }) {
  return <AriaMenuItem {...props} className={danger ? "menu-item menu-item-danger" : "menu-item"} />;
}
