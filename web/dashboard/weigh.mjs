// Fails if the gzipped scripts are too large: those that triage needs, those of the inbox among them, or those of
// pages that are not for triage and load when somebody opens them.
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";

const limits = { triage: 230_000, inbox: 212_000, "other pages": 47_500 };
const besides = /^(PortalSection|ChangelogSection|webhooks|pages|MentionsPage|PeoplePage)-/;
const folder = new URL("dist/", import.meta.url);

const manifest = new Map(); // file → its size and its static imports
for (const name of readdirSync(new URL("assets/", folder)).filter((name) => name.endsWith(".js"))) {
  const text = readFileSync(new URL("assets/" + name, folder), "utf8");
  const imports = [...text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)].map((match) => match[1]);
  manifest.set(name, { size: gzipSync(text, { level: 9 }).length, imports });
}

function addLoaded(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const next of manifest.get(name).imports) addLoaded(next, seen);
  return seen;
}

const page = readFileSync(new URL("index.html", folder), "utf8");
const start = [...page.matchAll(/assets\/([^"]+\.js)"/g)].map((match) => match[1]);
const inbox = [...manifest.keys()].find((name) => /^inbox-/i.test(name));
const seen = new Set();
for (const name of [...start, inbox]) addLoaded(name, seen);

const sum = (names) => [...names].reduce((total, name) => total + manifest.get(name).size, 0);
const apart = [...manifest.keys()].filter((name) => besides.test(name));
const sizes = { triage: sum(manifest.keys()) - sum(apart), inbox: sum(seen), "other pages": sum(apart) };
if (apart.some((name) => seen.has(name))) throw new Error(`the inbox loads ${apart}`);
for (const [what, size] of Object.entries(sizes)) {
  console.log(`${what}: ${size} bytes gzipped of ${limits[what]}`);
  if (size > limits[what]) process.exitCode = 1;
}
