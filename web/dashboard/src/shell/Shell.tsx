import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { useEffect, type ComponentType, type ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components";

import { absolute } from "../api/base";
import { onChange } from "../api/feed";
import { mailQuery, usageQuery } from "../api/queries";
import { near } from "../api/quotas";
import { logOut, useSession } from "../api/session";
import { ViewList } from "../inbox/ViewList";
import { unreadQuery } from "../mentions/queries";
import { AppsIcon, BookIcon, InboxIcon, InsightsIcon, LeaveIcon, MentionIcon, PersonIcon, TeamIcon } from "../ui/icons";
import { Avatar } from "../ui/marks";
import { Menu, MenuItem } from "../ui/Menu";
import { notifyError } from "../ui/notices";
import { Shortcuts } from "./Shortcuts";
import "./shell.css";

// Shell is the frame of every page after the login. The navigation is on the side, or at the
// bottom of narrow screens.
export function Shell() {
  return (
    <div className="shell">
      <a className="skip" href="#main">Skip to content</a>
      <nav className="side" aria-label="Pages">
        <Link to="/" className="brand" aria-label="Gatherkit"><Mark /><span>Gatherkit</span></Link>
        <NavItem to="/" icon={InboxIcon}>Inbox</NavItem>
        <ViewList />
        <NavItem to="/mentions" icon={MentionIcon} more={<Unread />}>Mentions</NavItem>
        <NavItem to="/apps" icon={AppsIcon}>Apps</NavItem>
        <NavItem to="/insights" icon={InsightsIcon}>Insights</NavItem>
        <NavItem to="/team" icon={TeamIcon} more={<TeamMark />}>Team</NavItem>
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

interface Item {
  to: "/" | "/mentions" | "/apps" | "/insights" | "/team";
  icon: ComponentType;
  children: ReactNode;
  more?: ReactNode;
}

function NavItem({ to, icon: Icon, children, more }: Item) {
  return (
    <Link to={to} className="nav-item" activeOptions={{ exact: to === "/", includeSearch: false }}>
      <Icon /><span className="nav-name">{children}</span>{more}
    </Link>
  );
}

// Unread shows how many mentions are unread.
function Unread() {
  const { data: n } = useQuery(unreadQuery);
  const client = useQueryClient();
  useEffect(() => onChange((kinds) => {
    if (!kinds.length || kinds.some((kind) => kind.startsWith("comment."))) void client.invalidateQueries({ queryKey: ["mentions"] });
  }), [client]);
  if (!n) return null;
  return <span className="nav-count number">{n > 99 ? "99+" : n}<span className="visually-hidden"> unread</span></span>;
}

// TeamMark shows admins that mail has failed, or that people outside may soon be refused. The team page says more.
function TeamMark() {
  const { can, mail } = useSession();
  const { data: status } = useQuery({ ...mailQuery, enabled: mail && can("admin") });
  const { data: usage } = useQuery({ ...usageQuery, enabled: can("admin") });
  const failed = status && (status.state !== "ok" || status.failing > 0);
  const full = usage?.quotas.some((quota) => (quota.name === "requests" || quota.name === "files") && near(quota));
  if (!failed && !full) return null;
  const why = failed ? "mail has failed" : "a quota is almost used up";
  return <span className="nav-count"><span aria-hidden="true">!</span><span className="visually-hidden"> {why}</span></span>;
}

function AccountMenu() {
  const { user, account } = useSession();
  const navigate = useNavigate();
  return (
    <Menu
      label="Account"
      button={
        <AriaButton className="nav-item account-button">
          <Avatar name={user.name} />
          <span className="visually-hidden">Account: </span>
          <span className="nav-name account-names"><span>{user.name}</span> <small>{account.name}</small></span>
        </AriaButton>
      }
    >
      <MenuItem onAction={() => void navigate({ to: "/account" })}><PersonIcon />Your account</MenuItem>
      <MenuItem href={absolute("docs")} target="_blank"><BookIcon />API reference</MenuItem>
      <MenuItem onAction={() => void logOut().catch((error) => notifyError(error))}><LeaveIcon />Log out</MenuItem>
    </Menu>
  );
}
