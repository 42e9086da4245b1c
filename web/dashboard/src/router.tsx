import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from "@tanstack/react-router";

import { base } from "./api/base";
import { readSection } from "./apps/sections";
import { readSearch } from "./inbox/search";
import { BrokenPage, NotFound } from "./pages/NotFound";
import type { Who } from "./people/data";
import { SetupPage } from "./pages/SetupPage";
import { Gate } from "./shell/Gate";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const setup = createRoute({ getParentRoute: () => root, path: "/setup", component: SetupPage });

const join = createRoute({ getParentRoute: () => root, path: "/join", component: lazyRouteComponent(() => import("./pages/JoinPage")) });

// The pages that need a login.
const inside = createRoute({ getParentRoute: () => root, id: "inside", component: Gate });

const inbox = createRoute({
  getParentRoute: () => inside,
  path: "/",
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import("./inbox/Inbox")),
});
const apps = createRoute({ getParentRoute: () => inside, path: "/apps", component: lazyRouteComponent(() => import("./apps/AppsPage")) });
const app = createRoute({
  getParentRoute: () => inside,
  path: "/apps/$id",
  validateSearch: readSection,
  component: lazyRouteComponent(() => import("./apps/AppPage")),
});
const insights = createRoute({
  getParentRoute: () => inside,
  path: "/insights",
  validateSearch: (raw: Record<string, unknown>): { from?: string; to?: string; app?: string } => {
    const { from, to, app: of } = readSearch(raw);
    return { ...(from && { from }), ...(to && { to }), ...(of && { app: of }) };
  },
  component: lazyRouteComponent(() => import("./insights/InsightsPage")),
});
const mentions = createRoute({
  getParentRoute: () => inside,
  path: "/mentions",
  component: lazyRouteComponent(() => import("./mentions/MentionsPage")),
});
const team = createRoute({ getParentRoute: () => inside, path: "/team", component: lazyRouteComponent(() => import("./team/TeamPage")) });
const audit = createRoute({
  getParentRoute: () => inside,
  path: "/team/audit",
  validateSearch: (raw: Record<string, unknown>): { about?: "requests" } => (raw["about"] === "requests" ? { about: "requests" } : {}),
  component: lazyRouteComponent(() => import("./team/AuditPage")),
});
const tokens = createRoute({
  getParentRoute: () => inside,
  path: "/team/tokens",
  component: lazyRouteComponent(() => import("./team/TokensPage")),
});
const people = createRoute({
  getParentRoute: () => inside,
  path: "/team/people",
  validateSearch: ({ email, id }: Record<string, unknown>): Who => ({
    ...(typeof email === "string" && email && { email }),
    ...(typeof id === "string" && id && { id }),
  }),
  component: lazyRouteComponent(() => import("./people/PeoplePage")),
});
const usage = createRoute({
  getParentRoute: () => inside,
  path: "/team/usage",
  component: lazyRouteComponent(() => import("./team/UsagePage")),
});
const webhooks = createRoute({
  getParentRoute: () => inside,
  path: "/team/webhooks",
  component: lazyRouteComponent(() => import("./webhooks/WebhooksPage")),
});
const webhook = createRoute({
  getParentRoute: () => inside,
  path: "/team/webhooks/$id",
  component: lazyRouteComponent(() => import("./webhooks/WebhookPage")),
});
const account = createRoute({
  getParentRoute: () => inside,
  path: "/account",
  component: lazyRouteComponent(() => import("./account/AccountPage")),
});

export const router = createRouter({
  routeTree: root.addChildren([
    setup,
    join,
    inside.addChildren([inbox, mentions, apps, app, insights, team, audit, tokens, people, usage, webhooks, webhook, account]),
  ]),
  basepath: base.pathname,
  search: { strict: true }, // drops unknown parameters
  defaultPreload: "intent",
  defaultErrorComponent: BrokenPage,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
