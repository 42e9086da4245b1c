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
        {children}
      </div>
    </main>
  );
}
