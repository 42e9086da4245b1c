import { count } from "../ui/marks";

export function requestCount(n: number): string {
  return count(n, "request");
}

export function peopleCount(n: number): string {
  return count(n, "person", "people");
}

// Never 0 % of something, nor 100 % of not all.
export function percent(part: number, whole: number): string {
  if (whole === 0 || part === 0) return "0 %";
  const share = (100 * part) / whole;
  if (share < 1) return "< 1 %";
  return `${part === whole ? 100 : Math.min(99, Math.round(share))} %`;
}
