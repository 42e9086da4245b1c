// A range of days in UTC, as the service counts them. It includes both ends.
export interface Days {
  from: string;
  to: string;
}

// The longest range that the service counts.
const mostDays = 366;

const dayLength = 86_400_000;
const form = /^\d{4}-\d{2}-\d{2}$/;

function isDay(text: unknown): text is string {
  return typeof text === "string" && form.test(text) && dayOf(Date.parse(text)) === text;
}

function dayOf(time: number): string {
  return Number.isNaN(time) ? "" : new Date(time).toISOString().slice(0, 10);
}

export function today(): string {
  return dayOf(Date.now());
}

function plusDays(day: string, days: number): string {
  return dayOf(Date.parse(day) + days * dayLength);
}

function countDays({ from, to }: Days): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / dayLength) + 1;
}

// timesOf returns the range as times, for the filter of the inbox. It excludes the end.
export function timesOf({ from, to }: Days): { from: string; to: string } {
  return { from: `${from}T00:00:00Z`, to: `${plusDays(to, 1)}T00:00:00Z` };
}

export const presets = [
  { id: "7", name: "7 days" },
  { id: "30", name: "30 days" },
  { id: "90", name: "90 days" },
  { id: "365", name: "12 months" },
] as const;

type PresetID = (typeof presets)[number]["id"];

export const defaultPreset: PresetID = "30";

export function presetDays(id: PresetID, to = today()): Days {
  return { from: plusDays(to, 1 - Number(id)), to };
}

export function presetOf(days: Days): PresetID | null {
  return presets.find(({ id }) => presetDays(id).from === days.from && days.to === today())?.id ?? null;
}

// daysFrom returns the range in the address, or the default if it is not valid.
export function daysFrom(search: { from?: string; to?: string }): Days {
  const to = isDay(search.to) ? search.to : today();
  const from = isDay(search.from) ? search.from : presetDays(defaultPreset, to).from;
  return rangeError({ from, to }) ? presetDays(defaultPreset) : { from, to };
}

// rangeError says what is wrong with a range.
export function rangeError(days: Days): string | null {
  if (!isDay(days.from) || !isDay(days.to)) return "Enter both dates.";
  const n = countDays(days);
  if (n < 1) return "The start date must not be after the end date.";
  if (n > mostDays) return `The range can have at most ${mostDays} days.`;
  return null;
}

const dayMonth = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const dayMonthYear = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

export function shortDay(day: string): string {
  return dayMonth.format(Date.parse(day));
}

export function fullDay(day: string): string {
  return dayMonthYear.format(Date.parse(day));
}

export function inWords({ from, to }: Days): string {
  if (from === to) return fullDay(from);
  return `${from.slice(0, 4) === to.slice(0, 4) ? shortDay(from) : fullDay(from)} – ${fullDay(to)}`;
}
