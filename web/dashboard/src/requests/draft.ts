import { useCallback, useState } from "react";

import { useSession } from "../api/session";

// useDraft keeps unsaved text in the tab, through reloads and ended sessions, until it is saved
// or discarded. Each user has their own drafts.
export function useDraft(key: string): [string, (text: string) => void] {
  const name = `gatherkit.draft.${useSession().user.id}.${key}`;
  const [text, setText] = useState(() => sessionStorage.getItem(name) ?? "");
  const change = useCallback(
    (next: string) => {
      setText(next);
      if (next) sessionStorage.setItem(name, next);
      else sessionStorage.removeItem(name);
    },
    [name],
  );
  return [text, change];
}
