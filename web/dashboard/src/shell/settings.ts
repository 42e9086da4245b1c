import { useSyncExternalStore } from "react";

// What this browser remembers of how its user likes the dashboard.
interface Settings {
  shortcuts: boolean; // whether single keys do something (WCAG 2.1.4)
  theme: "system" | "light" | "dark";
  facets: boolean; // whether the inbox shows its filters
}

const usual: Settings = { shortcuts: true, theme: "system", facets: true };
const key = "gatherkit.settings";
const listeners = new Set<() => void>();
let settings = read();

function read(): Settings {
  try {
    return { ...usual, ...JSON.parse(localStorage.getItem(key) ?? "{}") };
  } catch {
    return usual; // storage that is forbidden, or that holds something else
  }
}

function apply(to: Settings): void {
  settings = to;
  if (to.theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = to.theme;
  for (const listener of listeners) listener();
}

export function changeSettings(change: Partial<Settings>): void {
  apply({ ...settings, ...change });
  try {
    localStorage.setItem(key, JSON.stringify(settings));
  } catch {
    // forbidden: it holds until the page is closed
  }
}

export function currentSettings(): Settings {
  return settings;
}

export function useSettings(): Settings {
  return useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), currentSettings);
}

apply(settings);
window.addEventListener("storage", (event) => event.key === key && apply(read()));
