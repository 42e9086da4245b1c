import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useRef, type KeyboardEvent } from "react";

import { ApiError } from "../api/call";
import { live } from "../api/feed";
import { useSession } from "../api/session";
import type { FeatureRequest } from "../api/types";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { BackIcon, CloseIcon, TrashIcon } from "../ui/icons";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { Attachments } from "./Attachments";
import { BinBanner, MergedBanner, QuarantineBanner } from "./banners";
import { useChanges } from "./changes";
import { Comments } from "./Comments";
import { boxQuery } from "./details";
import { Facts } from "./Facts";
import { History } from "./History";
import { Issues } from "./Issues";
import { useKeptFocus, useSteadyFocus } from "./keptFocus";
import { useRequestLink } from "./link";
import { MergedIn } from "./MergedIn";
import { StatusLinks } from "./StatusLinks";
import { Submitter } from "./Submitter";
import { Properties } from "./Properties";
import { RequestText } from "./RequestText";
import { requestQuery } from "./rows";
import { Similar } from "./Similar";
import { Voters } from "./Voters";
import "./panel.css";

// How often an open request is read again to show changes of others, while the feed does not tell of them.
const every = 15_000;

interface Props {
  id: string;
  onClose(): void;
  onUncopied(link: string): void; // when the browser refuses to copy the request's link
}

export function RequestPanel({ id, onClose, onUncopied }: Props) {
  const panel = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const byKeyboard = useRef(document.activeElement?.matches(":focus-visible") ?? false);
  const read = useQuery({ ...requestQuery(id), refetchInterval: () => !live() && every });
  const gone = read.error instanceof ApiError && read.error.code === "requests.not_found";
  const mistyped = read.error instanceof ApiError && read.error.code === "requests.invalid_id";
  const binned = useQuery({ ...boxQuery(id, "bin"), enabled: gone });
  const inQuarantineList = useSearch({ strict: false }).box === "quarantine";
  const held = useQuery({ ...boxQuery(id, "quarantine"), enabled: inQuarantineList && !gone && !mistyped });
  const request = gone ? binned.data : read.data;
  const box = gone ? "bin" : inQuarantineList && held.data !== null ? "quarantine" : "live";

  // A request that was opened by a key gets the focus at its heading.
  useEffect(() => {
    if (!request || !byKeyboard.current) return;
    byKeyboard.current = false;
    heading.current?.focus();
  }, [request]);
  useKeptFocus(panel, heading);
  useFreshDetails(read.data);

  function closeByKey(event: KeyboardEvent) {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.stopPropagation();
    onClose();
  }

  return (
    <section className="request" ref={panel} data-request={id} aria-label="Request" onKeyDown={closeByKey}>
      <Bar id={id} request={request ?? undefined} box={box} onClose={onClose} onUncopied={onUncopied} />
      <div className="request-scroll" key={id}>
        {request ? (
          <Page request={request} box={box} heading={heading} />
        ) : mistyped || (gone && binned.isSuccess) ? (
          <EmptyState title="Request not found">
            <p className="quiet">
              {mistyped
                ? "The link is incomplete."
                : "It may have been deleted more than 30 days ago, or its app was deleted."}
            </p>
            <Button onPress={onClose}>Back to list</Button>
          </EmptyState>
        ) : read.error && !gone ? (
          <Failure error={read.error} onRetry={() => void read.refetch()} />
        ) : binned.error ? (
          <Failure error={binned.error} onRetry={() => void binned.refetch()} />
        ) : (
          <div className="request-page"><Skeleton lines={8} label="Loading request" /></div>
        )}
      </div>
    </section>
  );
}

type Box = "live" | "bin" | "quarantine";

function Page({ request, box, heading }: { request: FeatureRequest; box: Box; heading: React.RefObject<HTMLHeadingElement | null> }) {
  const editable = useSession().can("member") && box !== "bin";
  const article = useRef<HTMLElement>(null);
  useSteadyFocus(article);
  return (
    <article className="request-page" ref={article} aria-labelledby="request-title">
      {box === "bin" && <BinBanner request={request} />}
      {box === "quarantine" && <QuarantineBanner request={request} />}
      {request.merged_into_id && box === "live" && <MergedBanner request={request} into={request.merged_into_id} />}
      <RequestText request={request} editable={editable} heading={heading}>
        <Facts request={request} />
        <Properties request={request} editable={editable} />
      </RequestText>
      <Attachments attachments={request.attachments} />
      {box !== "bin" && (
        <>
          <Comments request={request} editable={editable} live={box === "live"} />
          <Voters request={request} editable={editable && box === "live"} />
          <MergedIn id={request.id} />
          {box === "live" && !request.merged_into_id && <Similar request={request} />}
          <Issues request={request} editable={editable} />
        </>
      )}
      <Submitter request={request} />
      {box !== "bin" && <History request={request} />}
    </article>
  );
}

function Bar({ id, request, box, onClose, onUncopied }: Props & { request: FeatureRequest | undefined; box: Box }) {
  const member = useSession().can("member");
  const { remove } = useChanges();
  const link = useRequestLink(box);
  return (
    <div className="request-bar">
      <span className="request-back"><Button kind="quiet" small onPress={onClose}><BackIcon />Back</Button></span>
      <span className="request-bar-gap" />
      <CopyButton text={link(id)} label="Copy link to this request" onFailed={() => onUncopied(link(id))}>Copy link</CopyButton>
      {member && box === "live" && (
        <>
          <StatusLinks key={id} id={id} />
          <Button
            kind="quiet"
            small
            icon
            isDisabled={!request}
            shortcut="#"
            aria-label="Delete request"
            onPress={() => {
              onClose();
              void remove({ requests: [request!] });
            }}
          >
            <TrashIcon />
          </Button>
        </>
      )}
      <span className="request-close">
        <Button kind="quiet" small icon shortcut="Esc" aria-label="Close request" onPress={onClose}>
          <CloseIcon />
        </Button>
      </span>
    </div>
  );
}

// useFreshDetails reads the parts of the request again when the request has changed.
function useFreshDetails(request: FeatureRequest | undefined): void {
  const client = useQueryClient();
  const seen = useRef("");
  const { id = "", version, votes, comments } = request ?? {};
  useEffect(() => {
    const now = `${id} ${version} ${votes} ${comments}`;
    if (id && seen.current.startsWith(id) && seen.current !== now) {
      for (const kind of ["history", "votes", "comments", "beside"]) void client.invalidateQueries({ queryKey: ["requests", kind, id] });
    }
    seen.current = now;
  }, [client, id, version, votes, comments]);
}
