// How a comment mentions a user: @[name](user:id). The id decides, because names change. Fields show
// @name instead.

type Named = { id: string; name: string };

export const mention = /@\[([^[\]\n]{1,200})\]\(user:([0-9a-fA-F-]{36})\)/y;
const everywhere = new RegExp(mention.source, "g");

// withoutIds returns a text as people read it.
export const withoutIds = (text: string) => text.replace(everywhere, "@$1");

// nameable returns the users whose name nobody else has, longest names first.
function nameable<U extends Named>(users: U[]): U[] {
  const times = new Map<string, number>();
  for (const { name } of users) times.set(name, (times.get(name) ?? 0) + 1);
  return users.filter(({ name }) => times.get(name) === 1).sort((a, b) => b.name.length - a.name.length);
}

// mentionOf returns what a field contains for a mention: the name, or the id too if others have the
// same name.
export function mentionOf(user: Named, users: Named[]): string {
  return nameable(users).some(({ id }) => id === user.id) ? "@" + user.name : stored(user);
}

// A name in a mention can have no brackets and no line break.
const stored = ({ id, name }: Named) => `@[${name.replace(/[[\]\s]+/g, " ").trim() || "user"}](user:${id})`;

// toField returns a comment as a field shows it.
export function toField(body: string, users: Named[]): string {
  return body.replace(everywhere, (written, _, id: string) => {
    const user = users.find((one) => one.id === id.toLowerCase());
    return user ? mentionOf(user, users) : written;
  });
}

// What stands before the text of a line of Markdown, and a line that opens a block of code.
const blockStart = /^ *(?:(?:>|[-*+] |\d{1,9}[.)] |#{1,6} ) *)*/;
const openFence = /^(`{3,}|~{3,})[^`]*$/;

// outsideCode returns a text with spaces in place of its code: fenced blocks, and spans between equal runs of
// backticks. The service finds code by the same rules (code.go).
function outsideCode(text: string): string {
  if (!/[`~]/.test(text)) return text;
  const parts: string[] = [];
  let paragraph = "";
  let fence = "";
  const end = () => {
    parts.push(outsideSpans(paragraph));
    paragraph = "";
  };
  for (const line of text.split(/^/m)) {
    if (fence) {
      const rest = line.replace(/^[> ]+|\s+$/g, "");
      if (rest.length >= fence.length && rest === fence[0]!.repeat(rest.length)) fence = "";
      parts.push(" ".repeat(line.length));
      continue;
    }
    const start = blockStart.exec(line)![0];
    const rest = line.slice(start.length).trimEnd();
    const found = start.includes("#") ? undefined : openFence.exec(rest)?.[1];
    if (found || !rest || start.trim()) end();
    if (found) {
      fence = found;
      parts.push(" ".repeat(line.length));
      continue;
    }
    paragraph += line;
    if (start.includes("#")) end();
  }
  end();
  return parts.join("");
}

// outsideSpans returns a paragraph with spaces in place of its spans of code.
function outsideSpans(text: string): string {
  const unclosed = new Set<string>(); // runs that nothing closes
  let out = "";
  for (let at = 0; at < text.length;) {
    const [part, run] = /[^\\`]+|\\[^]?|(`+)/y.exec(text.slice(at))!;
    const close = run && !unclosed.has(run) ? closing(text, run, at + run.length) : -1;
    if (run && close < 0) unclosed.add(run);
    const end = close < 0 ? at + part.length : close + run!.length;
    out += close < 0 ? part : " ".repeat(end - at);
    at = end;
  }
  return out;
}

// closing returns where the next run of exactly as many backticks begins, or -1.
function closing(text: string, run: string, from: number): number {
  for (const { 0: found, index } of text.slice(from).matchAll(/`+/g)) if (found === run) return from + index;
  return -1;
}

// fromField is the reverse of toField. It also finds names that were typed after an @, but not in code.
export function fromField(text: string, users: Named[]): string {
  const names = nameable(users);
  const outside = outsideCode(text);
  let body = "";
  let from = 0;
  for (let at = outside.indexOf("@"); at >= 0; at = outside.indexOf("@", at + 1)) {
    if (at < from || (at > 0 && /[\p{L}\p{N}_]/u.test(text[at - 1]!))) continue;
    const user = names.find(({ name }) => text.startsWith(name, at + 1) && !/^[\p{L}\p{N}_]/u.test(text.slice(at + 1 + name.length)));
    if (!user) continue;
    body += text.slice(from, at) + stored(user);
    from = at + 1 + user.name.length;
  }
  return body + text.slice(from);
}

// typedName returns what was typed after an @ in front of the cursor, and where the @ is.
export function typedName(text: string, cursor: number): { at: number; words: string } | undefined {
  const before = text.slice(Math.max(0, cursor - 60), cursor);
  const found = /(?:^|[^\p{L}\p{N}_@])@([^@\n[\]]{0,50})$/u.exec(before);
  return found ? { at: cursor - found[1]!.length - 1, words: found[1]! } : undefined;
}
