import { Link } from "@tanstack/react-router";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import { useSession } from "../api/session";
import type { App } from "../api/types";
import { FirstRequest } from "./FirstRequest";
import { Snippet } from "./Snippet";
import { backendCall, moduleTag, policy, scriptTag } from "./snippets";

// How the app's widget comes into a page, and whether it works.
export function InstallSection({ app }: { app: App }) {
  const { can } = useSession();
  const key = app.api_key;
  return (
    <div className="stack">
      <Tabs>
        <TabList className="tabs" aria-label="Ways to install">
          <Tab id="script" className="tab">Script tag</Tab>
          <Tab id="module" className="tab">Module</Tab>
          <Tab id="backend" className="tab">Your backend</Tab>
        </TabList>
        <TabPanel id="script" className="tab-panel">
          <p>Paste this line into your pages, anywhere. A button appears by which people send ideas.</p>
          <Snippet label="the script tag" code={scriptTag(key)} />
          <p className="quiet small">Do your pages have a Content Security Policy? Add <code>{policy}</code> to it.</p>
        </TabPanel>
        <TabPanel id="module" className="tab-panel">
          <p>For pages that load modules. There is nothing to install, and the types are at <code>widget.d.ts</code> beside it.</p>
          <Snippet label="the module" code={moduleTag(key)} />
        </TabPanel>
        <TabPanel id="backend" className="tab-panel">
          <p>With a form of your own, from your backend or your mobile app.</p>
          <Snippet label="the call" code={backendCall(key)} />
        </TabPanel>
      </Tabs>
      <FirstRequest app={app} />
      {can("admin") && (
        <p className="quiet small">
          The button’s colour, text and place are in <Link to="/apps/$id" params={{ id: app.id }} search={{ section: "widget" }}>Widget</Link>. Your pages need not change for them.
        </p>
      )}
    </div>
  );
}
