import { Link } from "@tanstack/react-router";

import { useSession } from "../api/session";
import type { App } from "../api/types";
import { Snippet } from "../ui/Snippet";
import { FirstRequest } from "./FirstRequest";
import { SetupSteps } from "./SetupSteps";
import { backendCall, moduleTag, policy, scriptTag } from "./snippets";

export function InstallSection({ app }: { app: App }) {
  const { can } = useSession();
  const key = app.api_key;
  return (
    <div className="stack">
      {can("admin") && <SetupSteps app={app} />}
      <p>Paste this line anywhere in your pages. It adds a feedback button to your site.</p>
      <Snippet label="script tag" code={scriptTag(key)} />
      <FirstRequest app={app} />
      {can("admin") && (
        <p className="quiet small">
          To change the button’s color, text and position, go to{" "}
          <Link to="/apps/$id" params={{ id: app.id }} search={{ section: "widget" }}>
            Widget
          </Link>
          .
        </p>
      )}
      <p className="quiet small">If your pages have a Content Security Policy, add <code>{policy}</code>.</p>
      <h3 className="section-gap">As a module</h3>
      <p className="quiet">
        Import the widget in a JavaScript module. The TypeScript types are at <code>widget.d.ts</code>.
      </p>
      <Snippet label="module" code={moduleTag(key)} />
      <h3 className="section-gap">With the API</h3>
      <p className="quiet">Send requests from your own form, backend or mobile app.</p>
      <Snippet label="API call" code={backendCall(key)} />
    </div>
  );
}
