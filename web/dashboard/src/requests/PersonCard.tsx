import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { call } from "../api/call";
import { useSession } from "../api/session";
import type { FeatureRequest } from "../api/types";
import type { Person } from "../inbox/search";
import { Avatar } from "../ui/marks";
import { foldEmail } from "./fold";
import { nameOf } from "./person";
import { mail, Metadata, Verified } from "./Submitter";

// PersonCard says who a person is, above the list of what they asked for and voted for.
export function PersonCard({ person }: { person: Person }) {
  const { email, name, external_id, verified } = person;
  const { can } = useSession();
  const { data: latest } = useQuery({
    queryKey: ["requests", "facets", "person", person],
    queryFn: async ({ signal }) => {
      const { requests } = await call("requests-list", { person, limit: 50 }, signal);
      return requests.find((request) => sent(request, person)) ?? null;
    },
  });
  return (
    <section className="person-card" aria-label="Person">
      <Avatar name={nameOf(person)} />
      <div className="person-facts">
        <div className="person-name">
          {nameOf(person)}
          {verified && <> <Verified /></>}
        </div>
        <p className="quiet small">
          {email && name && <a href={mail(email)}>{email}</a>}
          {external_id && (name || email) && <span>External ID {external_id}</span>}
          <span>Requests and votes</span>
          {can("admin") && (email || external_id) && (
            <Link to="/team/people" search={{ ...(email && { email }), ...(external_id && { id: external_id }) }}>Personal data</Link>
          )}
        </p>
        {latest && Object.keys(latest.metadata).length > 0 && (
          <details className="small">
            <summary>Device and page</summary>
            <dl className="properties"><Metadata of={latest} /></dl>
          </details>
        )}
      </div>
    </section>
  );
}

// sent reports whether a person submitted a request. An e-mail identifies them, and a verified id more.
function sent({ submitter }: FeatureRequest, { email, external_id, name, verified }: Person): boolean {
  if (verified) return submitter.verified && submitter.external_id === external_id;
  if (email) return submitter.email != null && foldEmail(submitter.email) === foldEmail(email);
  return external_id ? submitter.external_id === external_id : submitter.name === name;
}
