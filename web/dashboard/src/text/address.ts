const web = ["http:", "https:"];

// address returns an address that is safe in a link. Text could also have a javascript: or data: URL.
export function address(text: string, schemes = [...web, "mailto:"]): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && schemes.includes(url.protocol) ? url.href : undefined;
}

// webAddress is address for pages and files only.
export const webAddress = (text: string) => address(text, web);
