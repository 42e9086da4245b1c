import type { ReactNode } from "react";

import "./narrow.css";

// Narrow is the frame of pages that need no login.
export function Narrow({ title, intro, children }: { title: string; intro?: ReactNode; children: ReactNode }) {
  return (
    <main className="narrow">
      <div className="narrow-page">
        <div className="narrow-brand">Gatherkit</div>
        <h1>{title}</h1>
        {intro && <p className="quiet">{intro}</p>}
        {!window.isSecureContext && (
          <p className="form-error">This page uses HTTP, so your browser will not keep you logged in. Open Gatherkit over HTTPS.</p>
        )}
        {children}
      </div>
    </main>
  );
}
