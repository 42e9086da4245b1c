import { useEffect, useState } from "react";

type Page = "join" | "setup";

const storageKey = (page: Page) => `link-${page}`;

// useLinkToken returns the token in the fragment of a link. It removes the token from the
// address at once, so that it is not in the history or in a screenshot. The tab keeps it for
// reloads until forgetLinkToken.
export function useLinkToken(page: Page): string {
  const [token, setToken] = useState(() => location.hash.slice(1) || sessionStorage.getItem(storageKey(page)) || "");
  useEffect(() => {
    const read = () => {
      const fresh = location.hash.slice(1);
      if (!fresh) return;
      sessionStorage.setItem(storageKey(page), fresh);
      history.replaceState(history.state, "", location.pathname + location.search);
      setToken(fresh);
    };
    read();
    addEventListener("hashchange", read); // opening another such link does not reload the page
    return () => removeEventListener("hashchange", read);
  }, [page]);
  return token;
}

export const forgetLinkToken = (page: Page) => sessionStorage.removeItem(storageKey(page));
