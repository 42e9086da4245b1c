import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";

import { ApiError } from "../api/call";
import { useForm } from "../pages/useForm";
import { AdminPage } from "../team/AdminPage";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { DownloadIcon, EditIcon, PersonIcon, SearchIcon, TrashIcon } from "../ui/icons";
import { count, Time } from "../ui/marks";
import { EmptyState, Failure, Skeleton } from "../ui/states";
import { CorrectDialog } from "./CorrectDialog";
import { othersOf, personQuery, type Erased, type Found, type Who } from "./data";
import { EraseDialog } from "./EraseDialog";
import "./people.css";

export default function PeoplePage() {
  return (
    <AdminPage title="Personal data" about="Show, correct or erase what is stored about one person." what="what is stored about a person">
      <People />
    </AdminPage>
  );
}

function People() {
  const who = useSearch({ from: "/inside/team/people" });
  const [erased, setErased] = useState<Erased | null>(null);
  const navigate = useNavigate();
  const search = (next: Who) => {
    setErased(null);
    void navigate({ to: "/team/people", search: next });
  };
  const { data: found, error, isFetching, refetch } = useQuery(personQuery(who));
  return (
    <div className="stack">
      <SearchForm key={JSON.stringify(who)} who={who} onSearch={search} />
      {erased && <Done erased={erased} />}
      {isFetching && !erased && <Skeleton lines={4} label="Searching; this can take minutes in a large account" />}
      {!isFetching && error && <Failure error={error} onRetry={() => void refetch()} />}
      {!isFetching && found && !erased && (
        <Person
          found={found}
          who={who}
          onSearch={search}
          onChange={() => void refetch()}
          onErase={(done) => {
            setErased(done);
            void refetch();
          }}
        />
      )}
    </div>
  );
}

function SearchForm({ who, onSearch }: { who: Who; onSearch(who: Who): void }) {
  const [email, setEmail] = useState(who.email ?? "");
  const [id, setID] = useState(who.id ?? "");
  const form = useForm(["email"], async () => {
    if (!email.trim() && !id.trim()) throw new ApiError("people.invalid_email", "Enter an e-mail address or an id.", 400);
    onSearch({ ...(email.trim() && { email: email.trim() }), ...(id.trim() && { id: id.trim() }) });
  });
  return (
    <form className="people-search" onSubmit={form.onSubmit}>
      <Field label="E-mail" value={email} onChange={setEmail} autoComplete="off" maxLength={254} error={form.errorOf("email")} />
      <Field label="Id in your product" value={id} onChange={setID} autoComplete="off" maxLength={200} />
      <Button type="submit" kind="primary"><SearchIcon size={16} />Find</Button>
    </form>
  );
}

interface PersonProps {
  found: Found;
  who: Who;
  onSearch(who: Who): void;
  onChange(): void;
  onErase(erased: Erased): void;
}

function Person({ found, who, onSearch, onChange, onErase }: PersonProps) {
  const [dialog, setDialog] = useState<"correct" | "erase" | null>(null);
  const { requests, votes, comments, held_comments, records, mentions } = found;
  if (found.count === 0 && records.length === 0 && mentions.length === 0) {
    return (
      <EmptyState icon={<PersonIcon size={24} />} title="Nothing is stored about this person" live>
        <p>Ask for other addresses they may have used. Votes of a browser that gave no name or address cannot be found.</p>
      </EmptyState>
    );
  }
  const written = comments.length + held_comments.length;
  const others = othersOf(found, who);
  return (
    <section className="stack" aria-label="What is stored">
      <div className="people-head">
        <p role="status">
          {[count(requests.length, "request"), count(votes.length, "vote"), count(written, "comment"),
            count(records.length, "other record")].join(", ")}
        </p>
        <div className="row">
          <Button onPress={() => download(found)}><DownloadIcon size={16} />Download</Button>
          <Button onPress={() => setDialog("correct")}><EditIcon size={16} />Correct…</Button>
          <Button kind="danger" onPress={() => setDialog("erase")}><TrashIcon size={16} />Erase…</Button>
        </div>
      </div>
      {others.length > 0 && (
        <div>
          <h2>Also known as</h2>
          <p className="quiet">The same records have these addresses and ids. Search for them, too.</p>
          <ul className="people-others">
            {others.map((other) => (
              <li key={other.email ?? other.id}><Button small onPress={() => onSearch(other)}>{other.email ?? other.id}</Button></li>
            ))}
          </ul>
        </div>
      )}
      <List title="Requests" of={requests.map(({ id, title, created_at }) => ({ key: id, request: id, text: title, at: created_at }))} />
      <List
        title="Comments"
        of={[...comments, ...held_comments].map(({ id, request_id, body, created_at }) =>
          ({ key: id, request: request_id, text: body, at: created_at }))}
      />
      <List
        title="Votes"
        of={votes.map(({ request_id, why, created_at }, at) =>
          ({ key: String(at), request: request_id, text: why ?? "Vote", at: created_at }))}
      />
      <List
        title="Texts that mention the person"
        about="Erasing the person does not change these texts. Edit them first."
        of={mentions.map(({ request_id, title, field }, at) =>
          ({ key: String(at), request: request_id, text: `${fieldNames[field]} of ${title}` }))}
      />
      <CorrectDialog who={who} isOpen={dialog === "correct"} onClose={() => setDialog(null)} onDone={onChange} />
      <EraseDialog who={who} found={found} isOpen={dialog === "erase"} onClose={() => setDialog(null)} onDone={onErase} />
    </section>
  );
}

const fieldNames: Record<Found["mentions"][number]["field"], string> = {
  title: "Title", description: "Description", comment: "Comment", held_comment: "Held comment", vote: "Vote",
};

// How many items of a list are shown. The download has all.
const shown = 50;

interface ListProps {
  title: string;
  about?: string;
  of: { key: string; request: string; text: string; at?: string }[];
}

function List({ title, about, of }: ListProps) {
  if (of.length === 0) return null;
  return (
    <div>
      <h2>{title}</h2>
      {about && <p className="quiet">{about}</p>}
      <ul className="people-list" aria-label={title}>
        {of.slice(0, shown).map(({ key, request, text, at }) => (
          <li key={key}>
            <Link to="/" search={{ view: "all", request }}>{text}</Link>
            {at && <span className="quiet small"><Time at={at} /></span>}
          </li>
        ))}
      </ul>
      {of.length > shown && <p className="quiet small">{shown} of {of.length} are shown. The download has all.</p>}
    </div>
  );
}

function Done({ erased: { requests, votes, comments, deleted, kept } }: { erased: Erased }) {
  return (
    <section className="stack" aria-label="Erased">
      <p role="status">
        The person is erased: {count(requests, "request")}{deleted > 0 && ` (${deleted} deleted)`}, {count(votes, "vote")},{" "}
        {count(comments, "comment")}. Backups have the person until they are deleted.
      </p>
      <List
        title="Requests that stay"
        about="Others are behind them, so they stay without the person. Read whether their texts say who it was."
        of={kept.map(({ id, title }) => ({ key: id, request: id, text: title }))}
      />
    </section>
  );
}

function download(found: Found) {
  const link = document.createElement("a");
  const { mentions: _, ...own } = found; // they are about others, too
  link.href = URL.createObjectURL(new Blob([JSON.stringify(own, null, 2) + "\n"], { type: "application/json" }));
  link.download = "person.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
