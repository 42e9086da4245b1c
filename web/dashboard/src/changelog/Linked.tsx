import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import type { App } from "../api/types";
import { PickList } from "../requests/PickList";
import { requestQuery } from "../requests/rows";
import { useStatusName } from "../requests/statuses";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { CloseIcon, PlusIcon } from "../ui/icons";
import { count, StatusMark } from "../ui/marks";
import { useDebounced } from "../ui/useDebounced";
import { choicesQuery } from "./queries";
import "../requests/pickers.css";

interface Props {
  app: App;
  ids: string[];
  onChange(ids: string[]): void;
  isDisabled: boolean;
}

const most = 50;

// Linked lists the requests that an entry is about.
export function Linked({ app, ids, onChange, isDisabled }: Props) {
  const [choosing, setChoosing] = useState(false);
  return (
    <div className="stack" role="group" aria-label="Linked requests">
      <span className="field-label">Linked requests</span>
      {ids.length > 0 && (
        <ul className="entry-requests">
          {ids.map((id) => (
            <LinkedRequest
              key={id}
              app={app}
              id={id}
              onRemove={isDisabled ? undefined : () => onChange(ids.filter((other) => other !== id))}
            />
          ))}
        </ul>
      )}
      {!isDisabled && ids.length < most && (
        <div><Button onPress={() => setChoosing(true)}><PlusIcon size={16} />Link requests…</Button></div>
      )}
      <Dialog title="Link requests" isOpen={choosing} onClose={() => setChoosing(false)}>
        <Chooser app={app} ids={ids} onChange={onChange} />
        <div className="dialog-actions"><Button kind="primary" onPress={() => setChoosing(false)}>Done</Button></div>
      </Dialog>
    </div>
  );
}

function LinkedRequest({ app, id, onRemove }: { app: App; id: string; onRemove: (() => void) | undefined }) {
  const nameOf = useStatusName();
  const { data, error } = useQuery(requestQuery(id));
  const title = data?.title ?? (error ? "Deleted request" : "…");
  return (
    <li>
      {data && <StatusMark status={data.status} name={nameOf(data.status, app.id)} dotOnly />}
      {data ? <Link to="/" search={{ view: "all", request: id }}>{title}</Link> : <span className="quiet">{title}</span>}
      {onRemove && (
        <Button small kind="quiet" icon aria-label={`Unlink ${title}`} onPress={onRemove}><CloseIcon size={16} /></Button>
      )}
    </li>
  );
}

function Chooser({ app, ids, onChange }: Omit<Props, "isDisabled">) {
  const [words, setWords] = useState("");
  const nameOf = useStatusName();
  const found = useQuery({ ...choicesQuery(app.id, useDebounced(words.trim())), placeholderData: keepPreviousData });
  const toggle = (id: string) => onChange(ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id].slice(0, most));
  return (
    <PickList
      label="Requests"
      placeholder="Search requests…"
      words={words}
      onWords={setWords}
      maxLength={200}
      choices={(found.data ?? []).map(({ id, title, status, votes }) => ({
        id,
        text: `${title}, ${nameOf(status, app.id)}, ${count(votes, "vote")}`,
        content: (
          <span className="picker-request">
            <StatusMark status={status} dotOnly />
            <span className="picker-title">{title}</span>
          </span>
        ),
      }))}
      chosen={ids}
      multiple
      loading={found.isLoading}
      onChoose={toggle}
      empty={found.isLoading ? "Searching…" : found.error ? found.error.message : "No matching requests"}
    />
  );
}
