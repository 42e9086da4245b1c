import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, type ComponentType } from "react";

import { ApiError } from "../api/call";
import { useSession } from "../api/session";
import type { App } from "../api/types";
import { usePageTitle } from "../shell/title";
import { BackIcon, InboxIcon } from "../ui/icons";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { appQuery } from "./data";
import { GeneralSection } from "./GeneralSection";
import { IdentitySection } from "./IdentitySection";
import { InstallSection } from "./InstallSection";
import { IssuesSection } from "./IssuesSection";
import { KeySection } from "./KeySection";
import { OriginsSection } from "./OriginsSection";
import { sections, type Section } from "./sections";
import { SharingSection } from "./SharingSection";
import { StatusesSection } from "./StatusesSection";
import { WidgetSection } from "./WidgetSection";
import "./apps.css";

const contents: Record<Section, ComponentType<{ app: App }>> = {
  install: InstallSection,
  widget: WidgetSection,
  sharing: SharingSection,
  statuses: StatusesSection,
  portal: lazy(() => import("../portal/PortalSection")),
  changelog: lazy(() => import("../changelog/ChangelogSection")),
  origins: OriginsSection,
  issues: IssuesSection,
  key: KeySection,
  identity: IdentitySection,
  general: GeneralSection,
};

export default function AppPage() {
  const { id } = useParams({ from: "/inside/apps/$id" });
  const app = useQuery(appQuery(id));
  usePageTitle(app.data?.name ?? "App");
  return (
    <div className="page">
      <p className="app-back"><Link to="/apps"><BackIcon size={16} />Apps</Link></p>
      {app.data && <AppSections key={id} app={app.data} />}
      {app.isPending && <Skeleton lines={8} label="Loading app" />}
      {!app.data &&
        app.isError &&
        (app.error instanceof ApiError && app.error.status < 500 && app.error.status >= 400 ? (
          <NoApp />
        ) : (
          <Failure alone error={app.error} onRetry={() => void app.refetch()} />
        ))}
    </div>
  );
}

function NoApp() {
  return (
    <EmptyState alone title="App not found">
      <p>Check the address. The app may have been deleted.</p>
      <Link to="/apps" className="button">View all apps</Link>
    </EmptyState>
  );
}

function AppSections({ app }: { app: App }) {
  const { can } = useSession();
  const { section } = useSearch({ from: "/inside/apps/$id" });
  const visible = sections.filter((one) => !("admin" in one) || can("admin"));
  const current = visible.find((one) => one.id === section) ?? visible[0]!;
  const Content = contents[current.id];
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus(); // after the dialog that created the app
  }, []);
  return (
    <>
      <header className="page-head">
        <h1 ref={heading} tabIndex={-1}>{app.name}</h1>
        <Link to="/" search={{ app: app.id }} className="button"><InboxIcon size={16} />View requests</Link>
      </header>
      <div className="app-body">
        <nav className="app-sections" aria-label="Sections">
          {visible.map(({ id, name }) => (
            <Link
              key={id}
              to="/apps/$id"
              params={{ id: app.id }}
              search={id === "install" ? {} : { section: id }}
              activeOptions={{ exact: true }}
            >
              {name}
            </Link>
          ))}
        </nav>
        <section key={current.id} className="app-section" aria-labelledby="section-title">
          <h2 id="section-title">{current.name}</h2>
          <Suspense fallback={<Skeleton lines={6} label="Loading section" />}><Content app={app} /></Suspense>
        </section>
      </div>
    </>
  );
}
