// webAddress returns an address that is safe in a link. Text from outside could also be a
// javascript: or data: URL.
export function webAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && (url.protocol === "https:" || url.protocol === "http:") ? url.href : undefined;
}
