import { useCallback, useState } from "react";

import { useSession } from "../api/session";

// What somebody has begun to write stays in the tab, over a reload and an ended session,
// until it is saved or thrown away, for them alone.
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
