// Built scripts lie in assets/. (Written into the call below, Vite would take it for a file.)
const here = import.meta.url;

// The service's address, with a slash at its end. It is found from this script's own
// address, as a proxy may serve the service below a path.
export const base: URL = import.meta.env.DEV ? new URL("/", location.href) : new URL("../", here);

// The same for links that the service gives relative to its origin.
export function absolute(url: string): string {
  return new URL(url, base).href;
}
