// localTime is the value of a field of the type datetime-local, in the time zone of the browser.
export function localTime(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// isoTime is what the service gets for such a value, or "" if it is no time.
export function isoTime(value: string): string {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}
