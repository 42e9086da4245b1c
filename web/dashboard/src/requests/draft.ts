import { useCallback, useState } from "react";

import { useSession } from "../api/session";
import { readDraft, writeDraft } from "./drafts";

// useDraft returns a draft of the user, and a function that changes it.
export function useDraft(key: string): [string, (text: string) => void] {
  const { id } = useSession().user;
  const [text, setText] = useState(() => readDraft(id, key));
  const change = useCallback(
    (next: string) => {
      setText(next);
      writeDraft(id, key, next);
    },
    [id, key],
  );
  return [text, change];
}
