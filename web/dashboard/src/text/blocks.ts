import { inline, type Inline } from "./inline";

// The parts of a text in Markdown. An item of a list has parts of its own.
export type Block =
  | { kind: "paragraph" | "heading"; of: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "rule" }
  | { kind: "quote"; of: Block[] }
  | { kind: "list"; first: number | undefined; items: Block[][] }; // first is the number of an ordered list

// How deep lists and quotes can be in each other. What is deeper is a paragraph.
const deepest = 6;

const fence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const heading = /^ {0,3}#{1,6}(?:\s+(.*))?$/;
const rule = /^ {0,3}(?:\*(?: *\*){2,}|-(?: *-){2,}|_(?: *_){2,}) *$/;
const quote = /^ {0,3}> ?/;
const marker = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|$)/;

// markdown parses a text. It knows paragraphs, in which every line break counts, headings, code in fences,
// quotes, lists and rules, but no HTML.
export function markdown(text: string): Block[] {
  return blocks(text.replace(/\r\n?/g, "\n").replaceAll("\t", "    ").split("\n"), 0);
}

function blocks(lines: string[], depth: number): Block[] {
  const list: Block[] = [];
  for (let at = 0; at < lines.length;) {
    const { block, end } = blank(lines[at]!) ? { block: undefined, end: at + 1 } : next(lines, at, depth);
    if (block) list.push(block);
    at = end;
  }
  return list;
}

type Found = { block: Block; end: number };

const blank = (line: string) => line.trim() === "";
const starts = (line: string) => fence.test(line) || heading.test(line) || rule.test(line) || quote.test(line);

// interrupts reports whether a line is no part of the paragraph above. In a sentence, a line may begin
// with a number.
const interrupts = (line: string) => starts(line) || /^ {0,3}(?:[-*+]|1[.)]) +\S/.test(line);

function next(lines: string[], at: number, depth: number): Found {
  const line = lines[at]!;
  if (fence.test(line)) return fenced(lines, at);
  const title = heading.exec(line);
  if (title) return { block: { kind: "heading", of: inline((title[1] ?? "").trim().replace(/(?:^|\s)#+$/, "")) }, end: at + 1 };
  if (rule.test(line)) return { block: { kind: "rule" }, end: at + 1 };
  if (depth < deepest && quote.test(line)) return quoted(lines, at, depth);
  if (depth < deepest && marker.test(line)) return listed(lines, at, depth);
  let end = at + 1;
  while (end < lines.length && !blank(lines[end]!) && !interrupts(lines[end]!)) end++;
  return { block: { kind: "paragraph", of: inline(lines.slice(at, end).map((one) => one.trim()).join("\n")) }, end };
}

function fenced(lines: string[], at: number): Found {
  const [, open] = fence.exec(lines[at]!)!;
  let end = at + 1;
  const closes = (line: string) => {
    const close = line.trim();
    return close.length >= open!.length && close === open![0]!.repeat(close.length);
  };
  while (end < lines.length && !closes(lines[end]!)) end++;
  return { block: { kind: "code", text: lines.slice(at + 1, end).join("\n") }, end: end + 1 };
}

function quoted(lines: string[], at: number, depth: number): Found {
  let end = at;
  while (end < lines.length && quote.test(lines[end]!)) end++;
  return { block: { kind: "quote", of: blocks(lines.slice(at, end).map((line) => line.replace(quote, "")), depth + 1) }, end };
}

// listed returns a list: items with the same kind of marker. Lines that are indented belong to the item
// above, and lines of its paragraph, too.
function listed(lines: string[], at: number, depth: number): Found {
  const sort = (found: RegExpExecArray) => found[2]!.at(-1)!;
  const first = marker.exec(lines[at]!)!;
  const items: Block[][] = [];
  let end = at;
  for (let found: RegExpExecArray | null = first; found && sort(found) === sort(first) && !rule.test(lines[end]!);) {
    const indent = found[0].length + (found[3] ? 0 : 1);
    const own = [lines[end]!.slice(found[0].length)];
    for (end++; end < lines.length; end++) {
      const line = lines[end]!;
      const deep = line.search(/\S|$/) >= indent;
      const lazy = !blank(lines[end - 1]!) && !blank(line) && !starts(line) && !marker.test(line);
      if (!deep && !lazy && !(blank(line) && deeper(lines[end + 1], indent))) break;
      own.push(deep ? line.slice(indent) : line.trim());
    }
    items.push(blocks(own, depth + 1));
    if (blank(lines[end] ?? "x") && marker.test(lines[end + 1] ?? "")) end++; // a blank line between items
    found = end < lines.length ? marker.exec(lines[end]!) : null;
  }
  const number = Number.parseInt(first[2]!, 10);
  return { block: { kind: "list", first: Number.isNaN(number) ? undefined : number, items }, end };
}

const deeper = (line: string | undefined, indent: number) => line !== undefined && !blank(line) && line.search(/\S/) >= indent;
