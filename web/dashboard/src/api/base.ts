// Built scripts are in assets/. (Inside the call below, Vite would bundle the URL as a file.)
const here = import.meta.url;

// The service's address, with a slash at its end. It comes from the address of this script,
// because a proxy may serve the service below a path.
export const base: URL = import.meta.env.DEV ? new URL("/", location.href) : new URL("../", here);

// absolute resolves a URL that is relative to the service.
export function absolute(url: string): string {
  return new URL(url, base).href;
}
