// Drafts are unsaved texts. The browser keeps them through reloads, closed tabs and log-outs, until
// they are saved or discarded, or for a month. Each user has their own.
type Drafts = Record<string, { text: string; at: number }>;

const longest = 30 * 24 * 3600_000;
const mostCharacters = 200_000;

// If the browser blocks storage or it is full, drafts last as long as the page.
const memory = new Map<string, string>();

function read(name: string): Drafts {
  let stored = memory.get(name);
  try {
    stored ??= localStorage.getItem(name) ?? "{}";
    return JSON.parse(stored) as Drafts;
  } catch {
    return {};
  }
}

function write(name: string, drafts: Drafts): void {
  const text = JSON.stringify(drafts);
  try {
    if (text === "{}") localStorage.removeItem(name);
    else localStorage.setItem(name, text);
    memory.delete(name);
  } catch {
    memory.set(name, text);
  }
}

// kept returns the drafts that are not too old, the latest as far as there is room.
function kept(drafts: Drafts, now: number): Drafts {
  let room = mostCharacters;
  const latest = Object.entries(drafts).sort(([, a], [, b]) => b.at - a.at);
  return Object.fromEntries(latest.filter(([, { text, at }]) => now - at < longest && (room -= text.length) >= 0));
}

export function readDraft(user: string, key: string): string {
  return kept(read(storedAs(user)), Date.now())[key]?.text ?? "";
}

// writeDraft keeps a draft, or removes it if the text is empty.
export function writeDraft(user: string, key: string, text: string): void {
  const { [key]: _, ...others } = read(storedAs(user));
  const now = Date.now();
  write(storedAs(user), kept(text ? { [key]: { text, at: now }, ...others } : others, now));
}

const storedAs = (user: string) => `gatherkit.drafts.${user}`;
