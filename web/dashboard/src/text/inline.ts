import { address } from "./address";
import { mention } from "./mentions";

// The parts of a line of Markdown.
export type Inline =
  | { kind: "text"; text: string }
  | { kind: "break" }
  | { kind: "code"; text: string }
  | { kind: "mention"; id: string; name: string }
  | { kind: "strong" | "em" | "del"; of: Inline[] }
  | { kind: "link"; href: string; of: Inline[] };

// How deep emphasis can be in emphasis. What is deeper stays as it was written.
const deepest = 6;

// A piece is a part that is finished, a run of characters that may begin or end emphasis, or a bracket
// that may begin a link.
type Piece =
  | { done: Inline; depth: number }
  | { run: string; opens: boolean; closes: boolean }
  | { bracket: "[" | "![" };

// (address "title"), where the address may be in angle brackets or have pairs of round ones.
const plainTarget = /[^\s()<>]{1,2000}(?:\([^\s()<>]{0,2000}\)[^\s()<>]{0,2000}){0,9}/.source;
const target = new RegExp(String.raw`\(\s{0,9}(?:<([^<>\n]{1,2000})>|(${plainTarget}))(?:\s{1,9}(?:"[^"\n]*"|'[^'\n]*'))?\s{0,9}\)`, "y");
const angled = /<([a-z]{2,9}:[^\s<>]{1,2000}|[^\s<>@:/]{1,64}@[^\s<>@:/]{1,255})>/iy;
// An address in a text ends before quotation marks, brackets and the ends of sentences of other scripts: 。 」 ” ؟ and
// the like. Addresses have these characters only encoded.
const bareURL = /https?:\/\/(?:[!-;=?-~]|(?![\p{Terminal_Punctuation}\p{Quotation_Mark}\p{Ps}\p{Pe}…])[^\0-\x7f\s]){1,2000}/iuy;
const bareMail = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/y;

// match returns what a sticky pattern finds at a place.
function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const text = (text: string): Inline => ({ kind: "text", text });
const linkTo = (href: string, shown: string): Inline => ({ kind: "link", href, of: [text(shown)] });

// inline parses the text of a paragraph. Whatever it contains, the time it takes grows with its length:
// every pattern is bounded, and depth is, too.
export function inline(source: string): Inline[] {
  const pieces: Piece[] = [];
  const open: number[] = []; // the indexes of the brackets in pieces
  const unclosed = new Map<number, true>(); // lengths of backtick runs that nothing closes
  let plain = "";
  const flush = () => {
    if (plain) pieces.push({ done: text(plain), depth: 0 });
    plain = "";
  };
  const add = (done: Inline) => {
    flush();
    pieces.push({ done, depth: 0 });
  };
  for (let at = 0; at < source.length;) {
    const c = source[at]!;
    const found = special(source, at, unclosed);
    if (found) {
      if (typeof found.part === "string") plain += found.part;
      else add(found.part);
      at = found.end;
    } else if ("*_~".includes(c)) {
      let end = at + 1;
      while (source[end] === c) end++;
      const run = source.slice(at, end);
      flush();
      const plain = c === "~" ? run.length !== 2 : run.length > 3;
      pieces.push(plain ? { done: text(run), depth: 0 } : { run, ...sides(source, at, end, c) });
      at = end;
    } else if (c === "[" || (c === "!" && source[at + 1] === "[")) {
      flush();
      open.push(pieces.length);
      pieces.push({ bracket: c === "[" ? "[" : "![" });
      at += c === "[" ? 1 : 2;
    } else if (c === "]") {
      flush();
      const end = closeLink(pieces, open.pop(), source, at + 1);
      if (end === undefined) plain = "]";
      at = end ?? at + 1;
    } else {
      plain += c;
      at++;
    }
  }
  flush();
  return finished(pieces).of;
}

// special returns the part that begins at a place and does not contain others, and where it ends.
function special(source: string, at: number, unclosed: Map<number, true>): { part: Inline | string; end: number } | undefined {
  const c = source[at]!;
  const ofWord = at > 0 && /[\w.+@-]/.test(source[at - 1]!);
  if (c === "\n") return { part: { kind: "break" }, end: at + 1 };
  if (c === "\\" && source[at + 1] === "\n") return { part: "", end: at + 1 };
  if (c === "\\" && /[!-/:-@[-`{-~]/.test(source[at + 1] ?? "")) return { part: source[at + 1]!, end: at + 2 };
  if (c === "`") return code(source, at, unclosed);
  if (c === "@") {
    const found = match(mention, source, at);
    return found ? { part: { kind: "mention", name: found[1]!, id: found[2]!.toLowerCase() }, end: at + found[0].length } : undefined;
  }
  if (c === "<") {
    const found = match(angled, source, at);
    const href = found && address(found[1]!.includes(":") ? found[1]! : "mailto:" + found[1]);
    return href ? { part: linkTo(href, found[1]!), end: at + found[0].length } : undefined;
  }
  if (ofWord || !/\w/.test(c)) return undefined;
  const url = match(bareURL, source, at);
  if (url) {
    const shown = trimmed(url[0]);
    const href = address(shown);
    return href ? { part: linkTo(href, shown), end: at + shown.length } : undefined;
  }
  const mail = match(bareMail, source, at);
  const to = mail && trimmed(mail[0]);
  return to ? { part: linkTo("mailto:" + to, to), end: at + to.length } : undefined;
}

// code returns the code between two runs of equally many backticks, or the run as text.
function code(source: string, at: number, unclosed: Map<number, true>): { part: Inline | string; end: number } {
  const run = match(/`+/y, source, at)![0];
  const begin = at + run.length;
  for (let from = begin; !unclosed.has(run.length);) {
    const close = source.indexOf(run, from);
    if (close < 0) {
      unclosed.set(run.length, true);
      break;
    }
    const whole = match(/`+/y, source, close)![0].length;
    if (whole === run.length) {
      const inside = source.slice(begin, close).replaceAll("\n", " ");
      const padded = /^ .*\S.* $/.test(inside);
      return { part: { kind: "code", text: padded ? inside.slice(1, -1) : inside }, end: close + run.length };
    }
    from = close + whole;
  }
  return { part: run, end: begin };
}

// trimmed returns an address without the punctuation of the sentence around it.
function trimmed(found: string): string {
  let end = found.length;
  let open = found.split("(").length - found.split(")").length; // below zero: brackets that nothing opens
  for (; end > 0; end--) {
    const last = found[end - 1]!;
    if (last === ")" && open < 0) open++;
    else if (!"?!.,:;*_~'\"]".includes(last)) break;
  }
  return found.slice(0, end);
}

// sides reports whether a run of characters can open emphasis, and whether it can close it.
function sides(source: string, begin: number, end: number, c: string): { opens: boolean; closes: boolean } {
  const [before, after] = [source[begin - 1] ?? " ", source[end] ?? " "];
  const space = (one: string) => /\s/.test(one);
  const mark = (one: string) => /[\p{P}\p{S}]/u.test(one);
  const left = !space(after) && (!mark(after) || space(before) || mark(before));
  const right = !space(before) && (!mark(before) || space(after) || mark(after));
  if (c !== "_") return { opens: left, closes: right };
  return { opens: left && (!right || mark(before)), closes: right && (!left || mark(after)) };
}

// closeLink makes a link of the pieces behind an open bracket, if a target follows, and returns where that
// ends. A link in a link is text.
function closeLink(pieces: Piece[], begin: number | undefined, source: string, at: number): number | undefined {
  const found = begin === undefined ? null : match(target, source, at);
  const href = found && address(found[1] ?? found[2]!);
  if (begin === undefined || !href) return undefined;
  const inside = pieces.splice(begin).slice(1).flatMap((piece) =>
    "done" in piece && piece.done.kind === "link" ? piece.done.of.map((part) => ({ done: part, depth: piece.depth })) : [piece],
  );
  const { of, depth } = finished(inside);
  pieces.push({ done: { kind: "link", href, of: of.length ? of : [text(href)] }, depth });
  return at + found[0].length;
}

type Opener = { at: number; c: string; left: number };

// finished makes emphasis of the runs that open and close each other. Other runs and brackets are text.
function finished(pieces: Piece[]): { of: Inline[]; depth: number } {
  const out: { part: Inline; depth: number }[] = [];
  const openers: Opener[] = [];
  const waiting: Record<string, number> = { "*": 0, _: 0, "~": 0 }; // how many openers there are
  for (const piece of pieces) {
    if ("done" in piece) out.push({ part: piece.done, depth: piece.depth });
    else if ("bracket" in piece) out.push({ part: text(piece.bracket), depth: 0 });
    else {
      const c = piece.run[0]!;
      let left = piece.run.length;
      while (piece.closes && left > 0 && waiting[c]!) left -= close(c, left);
      if (left === 0) continue;
      if (piece.opens) {
        openers.push({ at: out.length, c, left });
        waiting[c]!++;
      }
      out.push({ part: text(c.repeat(left)), depth: 0 });
    }
  }
  return { of: joined(out.map(({ part }) => part)), depth: deepestOf(out) };

  // close ends the last emphasis that c has begun, and returns how many characters that takes.
  function close(c: string, most: number): number {
    let opener = openers.pop()!;
    for (waiting[opener.c]!--; opener.c !== c; waiting[opener.c]!--) opener = openers.pop()!;
    const n = Math.min(2, most, opener.left);
    const inside = out.splice(opener.at + 1);
    const depth = 1 + deepestOf(inside);
    out.pop();
    if (opener.left > n) {
      opener.left -= n;
      out.push({ part: text(c.repeat(opener.left)), depth: 0 });
      openers.push(opener);
      waiting[c]!++;
    }
    const kind = c === "~" ? "del" : n === 2 ? "strong" : "em";
    const written = { part: text(c.repeat(n)), depth: 0 };
    if (inside.length === 0 || depth > deepest) {
      out.push(written);
      for (const one of inside) out.push(one);
      out.push(written);
    } else out.push({ part: { kind, of: joined(inside.map(({ part }) => part)) }, depth });
    return n;
  }
}

const deepestOf = (parts: { depth: number }[]) => parts.reduce((most, { depth }) => Math.max(most, depth), 0);

// joined makes one part of texts that follow each other.
function joined(parts: Inline[]): Inline[] {
  const list: Inline[] = [];
  for (const part of parts) {
    const last = list.at(-1);
    if (part.kind === "text" && last?.kind === "text") list[list.length - 1] = text(last.text + part.text);
    else list.push(part);
  }
  return list;
}
