import { useState, type ReactNode, type RefObject } from "react";

import type { FeatureRequest } from "../api/types";
import { Button } from "../ui/Button";
import { EditIcon } from "../ui/icons";
import { useDraft } from "./draft";
import { TextEditor, type Edited } from "./TextEditor";

type Props = {
  request: FeatureRequest;
  editable: boolean;
  heading: RefObject<HTMLHeadingElement | null>;
  children: ReactNode; // stands between the title and the description
};

// A description that is longer than one of these is folded.
const shortest = { characters: 1_200, lines: 16 };

export function RequestText({ request, editable, heading, children }: Props) {
  const [draft, setDraft] = useDraft("text." + request.id);
  const [begun, setBegun] = useState(() => parse(draft));

  const { title, description, version } = request;
  function edit(next: Edited | undefined) {
    setBegun(next);
    setDraft(next ? stored(next) : "");
  }

  if (editable && begun) return <><TextEditor request={request} edited={begun} onChange={edit} />{children}</>;
  return (
    <>
      <div className="request-head">
        <h2 id="request-title" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {editable && (
          <Button
            kind="quiet"
            small
            icon
            aria-label="Edit title and description"
            onPress={() => edit({ title, description, base: { title, description, version } })}
          >
            <EditIcon />
          </Button>
        )}
      </div>
      {children}
      {description ? <Description key={request.id} text={description} /> : <p className="quiet">No description</p>}
    </>
  );
}

function Description({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const long = text.length > shortest.characters || text.split("\n").length > shortest.lines;
  return (
    <div className="request-text">
      <p className={long && !all ? "prose folded" : "prose"}>{text}</p>
      {long && <Button small kind="quiet" aria-expanded={all} onPress={() => setAll(!all)}>{all ? "Show less" : "Show all"}</Button>}
    </div>
  );
}

// stored returns the draft of an edit. It is empty if the edit changes nothing.
function stored({ title, description, base }: Edited): string {
  if (title === base.title && description === base.description) return "";
  return JSON.stringify({ title, description, base: { title: base.title, description: base.description, version: base.version } });
}

function parse(draft: string): Edited | undefined {
  return draft ? (JSON.parse(draft) as Edited) : undefined;
}
