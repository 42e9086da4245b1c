import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import type { ComponentType, ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components";

import { absolute } from "../api/base";
import { logOut, useSession } from "../api/session";
import { AppsIcon, BookIcon, InboxIcon, InsightsIcon, LeaveIcon, PersonIcon, TeamIcon } from "../ui/icons";
import { Avatar } from "../ui/marks";
import { Menu, MenuItem } from "../ui/Menu";
import { notifyError } from "../ui/notices";
import { Shortcuts } from "./Shortcuts";
import "./shell.css";

// The frame of every page behind the login: where to go at the side, or at the foot of
// narrow screens.
export function Shell() {
  return (
    <div className="shell">
      <a className="skip" href="#main">Skip to the content</a>
      <nav className="side" aria-label="Pages">
        <Link to="/" className="brand" aria-label="Gatherkit"><Mark /><span>Gatherkit</span></Link>
        <Place to="/" icon={InboxIcon}>Inbox</Place>
        <Place to="/apps" icon={AppsIcon}>Apps</Place>
        <Place to="/insights" icon={InsightsIcon}>Insights</Place>
        <Place to="/team" icon={TeamIcon}>Team</Place>
        <span className="side-gap" />
        <AccountMenu />
      </nav>
      <main id="main" className="main" tabIndex={-1}><Outlet /></main>
      <Shortcuts />
    </div>
  );
}

function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="mark-ground" />
      <path d="M8 12.5h16M8 17.5h11M8 22.5h6" className="mark-lines" strokeWidth="2.6" strokeLinecap="round" />
    </svg>
  );
}

function Place({ to, icon: Icon, children }: { to: "/" | "/apps" | "/insights" | "/team"; icon: ComponentType; children: ReactNode }) {
  return <Link to={to} className="place" activeOptions={{ exact: to === "/", includeSearch: false }}><Icon />{children}</Link>;
}

function AccountMenu() {
  const { user, account } = useSession();
  const navigate = useNavigate();
  return (
    <Menu
      label="Account"
      button={
        <AriaButton className="place account-button" aria-label={`Account: ${user.name}`}>
          <Avatar name={user.name} />
          <span className="account-names"><span>{user.name}</span><small>{account.name}</small></span>
        </AriaButton>
      }
    >
      <MenuItem onAction={() => void navigate({ to: "/account" })}><PersonIcon />Your account</MenuItem>
      <MenuItem href={absolute("docs")} target="_blank"><BookIcon />API documentation</MenuItem>
      <MenuItem onAction={() => void logOut().catch((error) => notifyError(error))}><LeaveIcon />Log out</MenuItem>
    </Menu>
  );
}
