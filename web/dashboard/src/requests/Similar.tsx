import { useQuery } from "@tanstack/react-query";

import { useSession } from "../api/session";
import type { FeatureRequest } from "../api/types";
import { Button } from "../ui/Button";
import { MergeIcon } from "../ui/icons";
import { notifyError } from "../ui/notices";
import { queryClient } from "../api/queries";
import { useChanges } from "./changes";
import { similarQuery } from "./details";
import { usePicker } from "./picker";
import { RequestLine } from "./RequestLine";
import { requestQuery } from "./rows";
import { Folded, Waiting } from "./Section";
import { SeenBy } from "./SeenBy";

const shown = 5;

export function Similar({ request }: { request: FeatureRequest }) {
  const member = useSession().can("member");
  const pick = usePicker();
  return (
    <Folded
      title="Similar requests"
      action={
        member && (
          <Button small kind="quiet" data-picker="merge" onPress={() => pick("merge", { requests: [request] })}>
            <MergeIcon size={16} />
            Merge into…
          </Button>
        )
      }
    >
      <Found request={request} member={member} />
    </Folded>
  );
}

function Found({ request, member }: { request: FeatureRequest; member: boolean }) {
  const { merge } = useChanges();
  const similar = useQuery(similarQuery(request.id));

  async function mergeInto(id: string) {
    try {
      await merge([request.id], await queryClient.fetchQuery(requestQuery(id)));
    } catch (error) {
      notifyError(error, "Could not merge the requests.");
    }
  }

  return (
    <>
      <Waiting query={similar} />
      {similar.data?.length === 0 && <p className="quiet small">No similar requests</p>}
      {similar.data && (
        <ul className="lines">
          {similar.data.slice(0, shown).map((other) => (
            <RequestLine key={other.id} request={other} app={request.app_id}>
              {member && (
                <Button small kind="quiet" aria-label={`Merge into this: ${other.title}`} onPress={() => void mergeInto(other.id)}>
                  Merge into this
                </Button>
              )}
            </RequestLine>
          ))}
        </ul>
      )}
      {member && !!similar.data?.length && <SeenBy target={{ requests: [request] }} what="a merge" />}
    </>
  );
}
