import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { useSession } from "../api/session";
import type { FeatureRequest } from "../api/types";
import { Button } from "../ui/Button";
import { MergeIcon, ShieldIcon, TrashIcon } from "../ui/icons";
import { useChanges } from "./changes";
import { usePicker } from "./picker";
import { requestQuery } from "./rows";

function Banner({ icon, children, actions }: { icon: ReactNode; children: ReactNode; actions: ReactNode }) {
  const member = useSession().can("member");
  return (
    <div className="banner" role="note">
      <span className="banner-icon">{icon}</span>
      <div className="banner-text">{children}</div>
      {member && <div className="banner-actions">{actions}</div>}
    </div>
  );
}

// useMove returns a function that waits for a move and then reads the request again.
function useMove(id: string) {
  const client = useQueryClient();
  return async (move: Promise<void>) => {
    await move;
    await Promise.all(
      [
        ["requests", "one", id],
        ["requests", "box", id],
        ["requests", "history", id],
      ].map((queryKey) => client.invalidateQueries({ queryKey })),
    );
  };
}

export function BinBanner({ request }: { request: FeatureRequest }) {
  const { restore } = useChanges();
  const move = useMove(request.id);
  return (
    <Banner icon={<TrashIcon />} actions={<Button small onPress={() => void move(restore({ requests: [request] }))}>Restore</Button>}>
      <p>This request is in the bin. The bin deletes requests after 30 days.</p>
    </Banner>
  );
}

export function QuarantineBanner({ request }: { request: FeatureRequest }) {
  const { release, block } = useChanges();
  const move = useMove(request.id);
  return (
    <Banner
      icon={<ShieldIcon />}
      actions={
        <>
          <Button small onPress={() => void move(release({ requests: [request] }))}>Release</Button>
          <Button small kind="danger" onPress={() => void move(block({ requests: [request] }))}>Block</Button>
        </>
      }
    >
      <p>
        <strong>This request waits for your decision.</strong> Either it looks like spam (the form was sent within two seconds, a hidden
        field was filled in, or the same address sent similar requests several times), or the rules of the portal hold it. Only your team
        sees it, and it is not counted.
      </p>
    </Banner>
  );
}

export function MergedBanner({ request, into }: { request: FeatureRequest; into: string }) {
  const pick = usePicker();
  const target = useQuery(requestQuery(into));
  return (
    <Banner
      icon={<MergeIcon />}
      actions={
        <Button small data-picker="unmerge" onPress={() => pick("unmerge", { requests: [request] })}>
          Unmerge
        </Button>
      }
    >
      <p>
        Merged into{" "}
        <Link to="/" search={(search) => ({ ...search, request: into })}>
          {target.data?.title ?? "another request"}
        </Link>
        . Its votes count there.
      </p>
    </Banner>
  );
}
