import { useQuery } from "@tanstack/react-query";

import { useSession } from "../api/session";
import { Button } from "../ui/Button";
import { mergedQuery } from "./details";
import { usePicker } from "./picker";
import { RequestLine } from "./RequestLine";
import { Section } from "./Section";

export function MergedIn({ id }: { id: string }) {
  const member = useSession().can("member");
  const pick = usePicker();
  const { data: merged = [] } = useQuery(mergedQuery(id));
  if (merged.length === 0) return null;
  return (
    <Section title="Merged requests" count={merged.length}>
      <ul className="lines">
        {merged.map((request) => (
          <RequestLine key={request.id} request={request} app={request.app_id}>
            {member && (
              <Button
                small
                kind="quiet"
                data-picker="unmerge"
                aria-label={`Unmerge ${request.title}`}
                onPress={() => pick("unmerge", { requests: [request] })}
              >
                Unmerge
              </Button>
            )}
          </RequestLine>
        ))}
      </ul>
    </Section>
  );
}
