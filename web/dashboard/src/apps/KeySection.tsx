import { useState } from "react";

import { useSession } from "../api/session";
import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { notify } from "../ui/notices";
import { Snippet } from "../ui/Snippet";
import { ConfirmDialog } from "./ConfirmDialog";
import { useAppChange } from "./data";

export function KeySection({ app }: { app: App }) {
  const { can } = useSession();
  const [asking, setAsking] = useState(false);
  const regenerate = useAppChange("apps-regenerate-key");
  return (
    <div className="stack">
      <p className="quiet">
        The API key tells Gatherkit which app a request belongs to. It is public: your pages contain it, and it only lets people
        do what your widget and portal offer: see shared requests, send ideas, vote and comment.
      </p>
      <Snippet label="current API key" code={app.api_key} />
      {can("admin") && (
        <>
          <h3>Regenerate key</h3>
          <p className="quiet">
            If other sites misuse the key, set your allowed origins first. If you regenerate the key, you must update your pages.
          </p>
          <div>
            <Button kind="danger" onPress={() => setAsking(true)}>
              Regenerate key…
            </Button>
          </div>
          <ConfirmDialog
            title="Regenerate the API key?"
            isOpen={asking}
            onClose={() => setAsking(false)}
            word={app.name}
            action="Regenerate key"
            run={async () => {
              await regenerate.mutateAsync({ id: app.id });
              notify("API key regenerated. Update your pages now.");
            }}
          >
            <p>The current key stops working at once:</p>
            <ul className="bullets">
              <li>The widget disappears from your pages until they have the new key.</li>
              <li>Calls with the old key from your backend or mobile apps fail.</li>
              <li>Unsent requests stay in people’s browsers until your pages have the new key.</li>
            </ul>
            <p>Your requests, votes, settings and identity secret do not change.</p>
          </ConfirmDialog>
        </>
      )}
    </div>
  );
}
