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

const two = (n: number | string) => String(n).padStart(2, "0");

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

// typedETA returns the ETA that somebody typed, if it is one: in digits, or in words such as "15 March",
// "Jun 2027", "Q3 2027" and "next month". Without a year, it is the next such month or day.
export function typedETA(words: string, now: Date): string | undefined {
  const text = words.trim().toLowerCase();
  const quarter = /^(?:(q[1-4])[ -]?(\d{4})|(\d{4})[ -]?(q[1-4]))$/.exec(text);
  if (quarter) return `${quarter[2] ?? quarter[3]}-${(quarter[1] ?? quarter[4])!.toUpperCase()}`;
  if (text === "tomorrow") return dated(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  if (text === "next month") return etasFrom(now)[quarters + 1];
  if (text === "next quarter") return etasFrom(now)[1];
  const named = /^(\d{1,2})?\.? ?([a-z]{3,9})\.?(?: (\d{1,2}),?)??(?: (\d{4}))?$/.exec(text);
  const month = named ? monthNames.indexOf(named[2]!.slice(0, 3)) : -1;
  if (named && month >= 0 && monthName.format(Date.UTC(2000, month)).toLowerCase().startsWith(named[2]!)) {
    const [, before, , after, given] = named;
    if (before && after) return undefined;
    const date = before ?? after;
    const passed = month < now.getMonth() || (month === now.getMonth() && Number(date ?? 31) < now.getDate());
    const year = given ?? String(now.getFullYear() + Number(passed));
    return real([year, two(month + 1), ...(date ? [two(date)] : [])]);
  }
  const european = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
  if (european) return real([european[3]!, two(european[2]!), two(european[1]!)]);
  const date = /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?$/.exec(text);
  return date ? real(date.slice(1).filter((part) => part !== undefined).map(two)) : undefined;
}

function dated(year: number, month: number, date: number): string {
  const day = new Date(year, month, date);
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

// real returns a month or a day, unless the calendar does not have it.
function real(parts: string[]): string | undefined {
  const eta = parts.join("-");
  const first = new Date(parts.length === 2 ? eta + "-01" : eta);
  return !Number.isNaN(first.getTime()) && first.toISOString().startsWith(eta) ? eta : undefined;
}
