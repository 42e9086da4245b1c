import type { ReactNode } from "react";

import { WarningIcon } from "../ui/icons";

// Banner is a notice on the team page.
export function Banner({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="card team-banner">
      <WarningIcon size={20} />
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </div>
  );
}
