import type { FeatureRequest } from "../api/types";
import { webAddress } from "../text/address";
import { deviceOf } from "../text/device";
import { CheckIcon, ExternalIcon } from "../ui/icons";
import { personOf } from "./person";
import { PersonLink } from "./PersonLink";
import { Section } from "./Section";

// Submitter shows who sent the request, and the metadata that their page added.
export function Submitter({ request }: { request: FeatureRequest }) {
  const { name, email, external_id, verified } = request.submitter;
  return (
    <Section title="Submitter">
      <dl className="properties">
        {!name && !email && !external_id && (
          <div className="property">
            <dt>Name</dt>
            <dd className="property-value quiet">Anonymous</dd>
          </div>
        )}
        {name && (
          <div className="property">
            <dt>Name</dt>
            <dd className="property-value">
              {name}
              {verified && <Verified />}
            </dd>
          </div>
        )}
        {email && (
          <div className="property">
            <dt>E-mail</dt>
            <dd className="property-value">
              <a href={mail(email)}>{email}</a>
              {verified && !name && <Verified />}
            </dd>
          </div>
        )}
        {external_id && (
          <div className="property">
            <dt>External ID</dt>
            <dd className="property-value">
              {external_id}
              {verified && !name && !email && <Verified />}
            </dd>
          </div>
        )}
        <Metadata of={request} />
      </dl>
      {personOf(request.submitter) && (
        <p className="small"><PersonLink of={request.submitter}>See all from {name || email || external_id}</PersonLink></p>
      )}
    </Section>
  );
}

// Metadata lists what the page added to a request.
export function Metadata({ of: { metadata } }: { of: FeatureRequest }) {
  return Object.entries(metadata).map(([key, value]) => (
    <div key={key} className="property">
      <dt>{names[key] ?? key}</dt>
      <dd className="property-value">
        {key === "user_agent" ? <span title={String(value)}>{deviceOf(String(value)) || String(value)}</span> : <Value value={value} />}
      </dd>
    </div>
  ));
}

const names: Record<string, string | undefined> = Object.assign(Object.create(null), {
  page: "Page",
  locale: "Language",
  user_agent: "Browser",
});

export function Verified() {
  return <span className="verified"><CheckIcon size={14} />Verified</span>;
}

// Value shows any value of the metadata as text.
function Value({ value }: { value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const url = webAddress(text);
  if (!url) return <span>{text}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {text} <ExternalIcon size={14} />
      <span className="visually-hidden"> (opens in a new tab)</span>
    </a>
  );
}

export function mail(address: string): string {
  return "mailto:" + encodeURIComponent(address).replaceAll("%40", "@");
}
