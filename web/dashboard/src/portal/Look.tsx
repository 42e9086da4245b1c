import { PublicName } from "../apps/PublicName";
import { Select, Switch } from "../ui/choices";
import { Field } from "../ui/Field";
import { VoteIcon } from "../ui/icons";
import { StatusMark } from "../ui/marks";
import type { Portal, Step } from "./draft";
import { Lines } from "./Lines";
import { Logo, Mark } from "./Logo";

const themes: { id: Portal["theme"]; name: string }[] = [
  { id: "auto", name: "As the browser prefers" },
  { id: "light", name: "Light" },
  { id: "dark", name: "Dark" },
];

// Each language has its own name.
const locales: { id: Portal["locale"] | "browser"; name: string }[] = [
  { id: "browser", name: "Same as the browser" },
  { id: "ar", name: "العربية" },
  { id: "de", name: "Deutsch" },
  { id: "en", name: "English" },
  { id: "es", name: "Español" },
  { id: "fr", name: "Français" },
  { id: "it", name: "Italiano" },
  { id: "ja", name: "日本語" },
  { id: "nl", name: "Nederlands" },
  { id: "pt", name: "Português" },
  { id: "zh", name: "中文" },
];

// Look edits how the portal looks, beside a preview.
export function Look({ app, form }: Step) {
  const { value, change, errors, readOnly: isDisabled } = form;
  return (
    <div className="portal-look">
      <div className="stack">
        <PublicName
          app={app}
          value={value.public_name}
          onChange={(public_name) => change({ public_name })}
          error={errors["public_name"]}
          isDisabled={isDisabled}
        />
        <Select label="Colors" value={value.theme} options={themes} onChange={(theme) => change({ theme })} isDisabled={isDisabled} />
        <Select
          label="Language"
          value={value.locale || "browser"}
          options={locales}
          onChange={(locale) => change({ locale: locale === "browser" ? "" : locale })}
          isDisabled={isDisabled}
        />
        <Logo app={app} form={form} />
        <Field
          label="Introduction (optional)"
          hint="Text above the requests."
          value={value.intro}
          onChange={(intro) => change({ intro })}
          rows={3}
          maxLength={1000}
          error={errors["intro"]}
          isDisabled={isDisabled}
        />
        <Switch
          isSelected={value.index}
          onChange={(index) => change({ index })}
          isDisabled={isDisabled}
          hint="Only a public portal can be found."
        >
          Let search engines list the portal
        </Switch>
        <Lines
          label="Pages that may show it in a frame"
          hint="One origin per line, such as https://www.example.com."
          value={value.frame_ancestors}
          onChange={(frame_ancestors) => change({ frame_ancestors })}
          error={errors["frame_ancestors"]}
          isDisabled={isDisabled}
        />
      </div>
      <Drawing app={app} form={form} />
    </div>
  );
}

const ideas = [
  { title: "Dark mode", votes: 24, status: "planned" },
  { title: "Export as CSV", votes: 9, status: "under_review" },
] as const;

// Drawing shows about what people will see. The real page cannot be shown in a frame here.
function Drawing({ app, form: { value } }: Step) {
  const name = value.public_name.trim() || app.name;
  return (
    <div className="portal-drawn">
      <h4>Preview</h4>
      <div className="portal-page" data-theme={value.theme} role="img" aria-label={`Preview of the portal of ${name}`}>
        <p className="portal-name"><Mark app={app} logo={value.logo} />{name}</p>
        {value.intro && <p className="prose">{value.intro}</p>}
        <ul>
          {ideas.map(({ title, votes, status }) => (
            <li key={title}>
              {value.voting !== "off" && <span className="portal-votes"><VoteIcon size={14} />{votes}</span>}
              <span>{title}<StatusMark status={status} name={app.settings.statuses[status].label || undefined} /></span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
