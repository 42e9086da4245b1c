const safe = ["http:", "https:", "mailto:"];

// address returns an address that is safe in a link. Text could also have a javascript: or data: URL.
export function address(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && safe.includes(url.protocol) ? url.href : undefined;
}
