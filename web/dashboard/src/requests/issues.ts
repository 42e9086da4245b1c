import { webAddress } from "../text/address";
import { cut } from "../text/cut";

// The longest address that the service stores, and the longest that trackers read.
export const longestAddress = 2_048;
const longestFilled = 7_500;

// newIssue returns the address of a tracker's page that creates an issue for a request. It cuts the
// description if the address would be too long.
export function newIssue(template: string, request: { title: string; description: string }, url: string): string | undefined {
  const fill = (description: string) => {
    const parts: Record<string, string> = { title: request.title, description, url };
    return template.replace(/\{(title|description|url)\}/g, (_, name: string) => encodeURIComponent(parts[name]!));
  };
  let filled = fill(request.description);
  for (let n = request.description.length; filled.length > longestFilled && n > 0;) {
    n = Math.floor(n * 0.95);
    filled = fill(cut(request.description, n).trimEnd() + "…");
  }
  return webAddress(filled);
}

// issueName is the short form of an address: acme.atlassian.net SHOP-12, or github.com/acme/shop#12.
export function issueName(address: string): string {
  const { host, pathname } = new URL(address);
  const key = /[/](?:browse|issue)[/]([A-Z]\w*-\d+)(?:[/]|$)/.exec(pathname)?.[1];
  if (key) return `${host} ${key}`;
  const [, place, number] = /^(.*?)(?:[/]-)?[/](?:issues|pull|merge_requests)[/](\d+)[/]?$/.exec(pathname) ?? [];
  const path = number ? `${place}#${number}` : pathname.replace(/[/]$/, "");
  return host + (path.length > 60 ? `/…${path.slice(-50)}` : path);
}
