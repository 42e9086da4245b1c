import { Select, Switch } from "../ui/choices";
import type { Portal, Step } from "./draft";
import { Lines } from "./Lines";

const takings: { id: Portal["voting"]; name: string }[] = [
  { id: "anyone", name: "Anyone" },
  { id: "verified", name: "People who are signed in" },
  { id: "off", name: "Nobody" },
];

const moderations: { id: Portal["moderation"]; name: string }[] = [
  { id: "none", name: "Nobody" },
  { id: "anonymous", name: "People who are not signed in" },
  { id: "all", name: "Everybody" },
];

const names: { id: Portal["names"]; name: string }[] = [
  { id: "none", name: "Nobody" },
  { id: "verified", name: "People who are signed in" },
];

// Rules say who may take part, and what the portal shows.
export function Rules({ form }: Pick<Step, "form">) {
  const { value, change, errors, readOnly: isDisabled } = form;
  const { voting, comments, submit, moderation } = value;
  return (
    <>
      <div className="portal-pair">
        <Select label="Who may vote" value={voting} options={takings} onChange={(voting) => change({ voting })} isDisabled={isDisabled} />
        <Select
          label="Who may comment"
          value={comments}
          options={takings}
          onChange={(comments) => change({ comments })}
          isDisabled={isDisabled}
        />
        <Select
          label="Who may send requests"
          value={submit}
          options={takings}
          onChange={(submit) => change({ submit })}
          isDisabled={isDisabled}
        />
        <Select
          label="Whose texts need your approval"
          value={moderation}
          options={moderations}
          onChange={(moderation) => change({ moderation })}
          isDisabled={isDisabled}
        />
        <Select
          label="Whose names are shown"
          value={value.names}
          options={names}
          onChange={(names) => change({ names })}
          isDisabled={isDisabled}
        />
      </div>
      <Lines
        label="Held words"
        hint="One per line. Ideas and comments that contain one of these, even inside a longer word, also need your approval."
        value={value.held_words}
        onChange={(held_words) => change({ held_words })}
        error={errors["held_words"]}
        isDisabled={isDisabled}
      />
      <Switch
        isSelected={value.team_names}
        onChange={(team_names) => change({ team_names })}
        isDisabled={isDisabled}
        hint="Otherwise, public comments of your team are signed with the name of the app."
      >
        Show names of your team
      </Switch>
      <Switch isSelected={value.descriptions} onChange={(descriptions) => change({ descriptions })} isDisabled={isDisabled}>
        Show descriptions
      </Switch>
      <Switch isSelected={value.attachments} onChange={(attachments) => change({ attachments })} isDisabled={isDisabled}>
        Show attached files
      </Switch>
      <Lines
        label="Tags"
        hint="One per line. The portal shows these tags and no others."
        value={value.tags}
        onChange={(tags) => change({ tags })}
        error={errors["tags"]}
        isDisabled={isDisabled}
      />
    </>
  );
}
