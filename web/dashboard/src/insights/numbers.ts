import { count } from "../ui/marks";

export function requestCount(n: number): string {
  return count(n, "request");
}

// percent does not round to 0% or 100%.
export function percent(part: number, whole: number): string {
  if (whole === 0 || part === 0) return "0%";
  const share = (100 * part) / whole;
  if (share < 1) return "< 1%";
  return `${part === whole ? 100 : Math.min(99, Math.round(share))}%`;
}
