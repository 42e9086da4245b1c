const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

// How far behind the cut the end of what people see as one character is looked for.
const longest = 64;

// cut returns the beginning of a text: at most so many characters (code points), and no part of what people see as one
// character, such as a flag.
export function cut(text: string, most: number): string {
  const end = new RegExp(`^.{0,${most}}`, "su").exec(text)![0].length;
  if (end === text.length) return text;
  let whole = 0;
  for (const { index, segment } of graphemes.segment(text.slice(0, end + longest))) {
    if (index + segment.length > end) break;
    whole = index + segment.length;
  }
  return text.slice(0, whole || end);
}
