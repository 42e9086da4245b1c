const dayName = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

// day formats a date such as 2026-12-31.
export function day(date: string): string {
  return dayName.format(new Date(date));
}
