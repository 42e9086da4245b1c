import { useState } from "react";

import { useSession } from "../api/session";
import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { notify } from "../ui/notices";
import { ConfirmDialog } from "./ConfirmDialog";
import { useAppChange } from "./data";
import { Snippet } from "./Snippet";

// The key that stands in the customer's pages.
export function KeySection({ app }: { app: App }) {
  const { can } = useSession();
  const [asking, setAsking] = useState(false);
  const regenerate = useAppChange("apps-regenerate-key");
  return (
    <div className="stack">
      <p className="quiet">
        The key says which app a request is for. It is public: it stands in your pages, and lets people send ideas and vote, nothing else.
      </p>
      <Snippet label="the API key" code={app.api_key} />
      {can("admin") && (
        <>
          <h3>A new key</h3>
          <p className="quiet">
            When the key is misused on pages of others, name your own under Allowed origins first. A new key makes you change your pages.
          </p>
          <div>
            <Button kind="danger" onPress={() => setAsking(true)}>
              Make a new key…
            </Button>
          </div>
          <ConfirmDialog
            title="Make a new key?"
            isOpen={asking}
            onClose={() => setAsking(false)}
            word={app.name}
            action="Make a new key"
            run={async () => {
              await regenerate.mutateAsync({ id: app.id });
              notify("The app has a new key. Put it into your pages now.");
            }}
          >
            <p>The key of today stops working at once:</p>
            <ul className="bullets">
              <li>The widget vanishes from every page that has the old key, until you put the new one there.</li>
              <li>Calls with the old key from your backend or your mobile apps are refused.</li>
              <li>Ideas that wait in people’s browsers are sent when their page has the new key.</li>
            </ul>
            <p>Requests, votes, settings and the identity secret stay.</p>
          </ConfirmDialog>
        </>
      )}
    </div>
  );
}
