import { Link } from "@tanstack/react-router";

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
      <p>Paste this line into your pages, anywhere. A button appears by which people send ideas.</p>
      <Snippet label="the script tag" code={scriptTag(key)} />
      <FirstRequest app={app} />
      {can("admin") && (
        <p className="quiet small">
          The button’s colour, text and place are in{" "}
          <Link to="/apps/$id" params={{ id: app.id }} search={{ section: "widget" }}>
            Widget
          </Link>
          . Your pages need not change for them.
        </p>
      )}
      <p className="quiet small">Do your pages have a Content Security Policy? Add <code>{policy}</code> to it.</p>
      <h3 className="section-gap">As a module</h3>
      <p className="quiet">
        For pages that load modules. There is nothing to install, and the types are at <code>widget.d.ts</code> beside it.
      </p>
      <Snippet label="the module" code={moduleTag(key)} />
      <h3 className="section-gap">From your backend</h3>
      <p className="quiet">With a form of your own, from your backend or your mobile app.</p>
      <Snippet label="the call" code={backendCall(key)} />
    </div>
  );
}
