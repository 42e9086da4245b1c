import { day } from "../ui/day";

// An ETA is a day such as 2026-12-31, a month such as 2026-12 or a quarter such as 2026-Q4.

const monthName = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

export function etaText(eta: string): string {
  const quarter = /^(\d{4})-(Q\d)$/.exec(eta);
  if (quarter) return `${quarter[2]} ${quarter[1]}`;
  return eta.length === 7 ? monthName.format(new Date(eta + "-01")) : day(eta);
}

const months = 12;
const quarters = 6;

// etasFrom returns the months and quarters to choose from: the current one of each, and the next.
export function etasFrom(now: Date): string[] {
  const year = now.getFullYear();
  const etas: string[] = [];
  for (let i = 0; i < quarters; i++) {
    const at = Math.floor(now.getMonth() / 3) + i;
    etas.push(`${year + Math.floor(at / 4)}-Q${(at % 4) + 1}`);
  }
  for (let i = 0; i < months; i++) {
    const at = now.getMonth() + i;
    etas.push(`${year + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`);
  }
  return etas;
}

// typedETA returns the ETA that somebody typed, if it is one.
export function typedETA(words: string): string | undefined {
  const text = words.trim().toUpperCase();
  const quarter = /^(?:(Q[1-4])[ -]?(\d{4})|(\d{4})[ -]?(Q[1-4]))$/.exec(text);
  if (quarter) return `${quarter[2] ?? quarter[3]}-${quarter[1] ?? quarter[4]}`;
  const date = /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?$/.exec(text);
  if (!date) return undefined;
  const parts = date.slice(1).filter((part) => part !== undefined).map((part) => part.padStart(2, "0"));
  const eta = parts.join("-");
  const first = new Date(parts.length === 2 ? eta + "-01" : eta);
  return !Number.isNaN(first.getTime()) && first.toISOString().startsWith(eta) ? eta : undefined;
}
