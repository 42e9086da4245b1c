import { sameLetters } from "./letters";

const same = new Map(sameLetters.split(" ").map((pair) => [pair[0]!, pair.slice(1)]));

// searchable returns text for a comparison that ignores what the service's searches ignore: capital letters, accents,
// strokes, and what cannot be seen.
export function searchable(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}\u0640]/gu, "")
    .toLowerCase()
    .toUpperCase() // ß becomes SS
    .toLowerCase()
    .replace(/[^\0-\x7f]/g, (letter) => same.get(letter) ?? letter)
    .trim();
}
