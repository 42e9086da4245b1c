import type { ReactNode } from "react";

import "./narrow.css";

// The frame of pages before the login.
export function Narrow({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  return (
    <main className="narrow">
      <div className="narrow-page">
        <p className="narrow-brand">Gatherkit</p>
        <h1>{title}</h1>
        {lead && <p className="quiet">{lead}</p>}
        {!window.isSecureContext && (
          <p className="form-error">This page came by plain http, so your browser will not keep you logged in. Open Gatherkit by https.</p>
        )}
        {children}
      </div>
    </main>
  );
}
