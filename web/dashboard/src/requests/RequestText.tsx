import { useState, type RefObject } from "react";

import type { FeatureRequest } from "../api/types";
import { Button } from "../ui/Button";
import { EditIcon } from "../ui/icons";
import { useDraft } from "./draft";
import { TextEditor, type Edited } from "./TextEditor";

type Props = { request: FeatureRequest; editable: boolean; heading: RefObject<HTMLHeadingElement | null> };

export function RequestText({ request, editable, heading }: Props) {
  const [draft, setDraft] = useDraft("text." + request.id);
  const [begun, setBegun] = useState(() => parse(draft));

  const { title, description, version } = request;
  function edit(next: Edited | undefined) {
    setBegun(next);
    setDraft(next ? stored(next) : "");
  }

  if (editable && begun) return <TextEditor request={request} edited={begun} onChange={edit} />;
  return (
    <div className="request-text">
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
      {description ? <p className="prose">{description}</p> : <p className="quiet">No description</p>}
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
