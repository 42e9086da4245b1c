const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

// How much of what people see as one character is looked at behind the cut.
const longest = 64;

// cut returns the beginning of a text: at most so many characters (code points), and no part of what people see as one
// character, such as a flag.
export function cut(text: string, most: number): string {
  const end = new RegExp(`^.{0,${most}}`, "su").exec(text)![0].length;
  if (end === text.length) return text;
  const around = graphemes.segment(text.slice(0, end + longest)).containing(end);
  return text.slice(0, around?.index || end);
}

// first returns what people see as the first character of a text.
export function first(text: string): string {
  return graphemes.segment(text).containing(0)?.segment ?? "";
}
