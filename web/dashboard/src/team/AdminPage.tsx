import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { useSession } from "../api/session";
import { usePageTitle } from "../shell/title";
import { BackIcon, ShieldIcon } from "../ui/icons";
import { EmptyState } from "../ui/states";
import "./team.css";

interface Props {
  title: string;
  about?: string;
  // The name of its content in a sentence.
  what: string;
  // The page above it; Team by default.
  parent?: "Webhooks";
  children: ReactNode;
}

// AdminPage is a page below the team's that only admins see.
export function AdminPage({ title, about, what, parent, children }: Props) {
  usePageTitle(title);
  const { can } = useSession();
  return (
    <div className="page team">
      <div className="page-head">
        <div>
          <Link to={parent ? "/team/webhooks" : "/team"} className="back"><BackIcon size={16} />{parent ?? "Team"}</Link>
          <h1>{title}</h1>
          {about && <p>{about}</p>}
        </div>
      </div>
      {can("admin") ? children : (
        <EmptyState icon={<ShieldIcon size={24} />} title="Admins only">
          <p>Only admins can see {what}.</p>
        </EmptyState>
      )}
    </div>
  );
}
