import { useEffect, useState } from "react";

import { statusNames, type App, type Status } from "../api/types";
import { first } from "../text/cut";
import "./marks.css";

// StatusMark shows a status as a dot and its name. With dotOnly, only screen readers get the name.
export function StatusMark({ status, name = statusNames[status], dotOnly }: { status: Status; name?: string; dotOnly?: boolean }) {
  return (
    <span className={`status status-${status}`}>
      <span className="status-dot" />
      <span className={dotOnly ? "visually-hidden" : undefined}>{name}</span>
    </span>
  );
}

// AppMark is a square in the color of an app. The page shows the app's name beside it.
export function AppMark({ app }: { app: App }) {
  return <span className="app-mark" style={{ background: app.settings.widget.primary_color }} />;
}

export function TagMark({ tag }: { tag: string }) {
  return <span className="tag">{tag}</span>;
}

// Avatar shows a person's initials. With titled, its tooltip has the name. Screen readers skip it, so
// the name needs to be near it.
export function Avatar({ name, titled }: { name: string; titled?: boolean }) {
  const words = name.trim().split(/\s+/u);
  const initials = [words[0], words.length > 1 ? words.at(-1) : ""].map((word) => first(word ?? "")).join("");
  return (
    <span className="avatar" aria-hidden="true" title={titled ? name : undefined}>
      {initials.toLocaleUpperCase()}
    </span>
  );
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const full = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

// ago returns a relative time such as "3 days ago", or "3d" if brief.
export function ago(at: string, now = Date.now(), brief = false): string {
  const seconds = Math.round((now - Date.parse(at)) / 1000);
  for (const [unit, length] of units) {
    const n = Math.floor(Math.abs(seconds) / length);
    if (n >= 1) return brief ? `${n}${unit === "month" ? "mo" : unit[0]}` : relative.format(seconds > 0 ? -n : n, unit);
  }
  return brief ? "now" : "just now";
}

// moment returns a day with its time, such as "Nov 23, 2026, 9:41 AM".
export function moment(at: string): string {
  return full.format(new Date(at));
}

// Time shows a relative time, with the exact time as its title.
export function Time({ at, brief = false }: { at: string; brief?: boolean }) {
  const [, tell] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tell((n) => n + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  return <time className="number" dateTime={at} title={moment(at)}>{ago(at, Date.now(), brief)}</time>;
}

const numbers = new Intl.NumberFormat("en");

// count returns a number with its noun, such as "1 request" or "1,204 requests".
export function count(n: number, one: string, many = one + "s"): string {
  return `${numbers.format(n)} ${n === 1 ? one : many}`;
}

export function number(n: number): string {
  return numbers.format(n);
}

// size returns a number of bytes in a readable unit, such as "1.2 MB".
export function size(bytes: number): string {
  if (bytes < 1_000) return count(bytes, "byte");
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`;
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}
