import { useEffect, useState } from "react";

type Page = "join" | "setup";

const kept = (page: Page) => `link-${page}`;

// useLinkToken returns the token behind # in the link to a page. The token leaves the address
// at once: nobody finds it in the address bar, in the history or in a screenshot. It stays in
// the tab, so that the page can be reloaded, until forgetLinkToken.
export function useLinkToken(page: Page): string {
  const [token, setToken] = useState(() => location.hash.slice(1) || sessionStorage.getItem(kept(page)) || "");
  useEffect(() => {
    const read = () => {
      const fresh = location.hash.slice(1);
      if (!fresh) return;
      sessionStorage.setItem(kept(page), fresh);
      history.replaceState(history.state, "", location.pathname + location.search);
      setToken(fresh);
    };
    read();
    addEventListener("hashchange", read); // another link to the same page loads nothing
    return () => removeEventListener("hashchange", read);
  }, [page]);
  return token;
}

export const forgetLinkToken = (page: Page) => sessionStorage.removeItem(kept(page));
