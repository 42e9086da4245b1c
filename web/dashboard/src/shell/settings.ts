import { useSyncExternalStore } from "react";

// Settings are the preferences that the browser stores.
interface Settings {
  shortcuts: boolean; // whether single keys run commands
  theme: "system" | "light" | "dark";
  facets: boolean; // whether the inbox shows its filters
  compact: boolean; // whether rows of the inbox have one line
  unfolded: string[]; // sections of a request that are folded by default, and open here
  dismissed: boolean; // whether the user needs no next steps of an app
}

const defaults: Settings = { shortcuts: true, theme: "system", facets: false, compact: false, unfolded: [], dismissed: false };
const key = "gatherkit.settings";
const listeners = new Set<() => void>();
let settings = read();

function read(): Settings {
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(key) ?? "{}") };
  } catch {
    return defaults; // the browser blocks storage, or the value is not JSON
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
    // The browser blocks storage: the settings last until the page is closed.
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
