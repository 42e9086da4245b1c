import { sameLetters } from "./letters";

const same = new Map(sameLetters.split(" ").map((pair) => [pair[0]!, pair.slice(1)]));

const isDigit = /\p{Nd}/u;

// digit returns the value of a decimal digit. Each script has its digits in order and next to each other, from zero to nine.
function digit(character: string): string {
  const code = character.codePointAt(0)!;
  let value = 0;
  while (value < 9 && isDigit.test(String.fromCodePoint(code - value - 1))) value++;
  return String(value);
}

// searchable returns text for a comparison that ignores what the service's searches ignore: capital letters, accents,
// strokes, and what cannot be seen.
export function searchable(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}\u0640]/gu, "")
    .toLowerCase()
    .toUpperCase() // ß becomes SS
    .toLowerCase()
    .replace(/(?!\d)\p{Nd}/gu, digit)
    .replace(/[^\0-\x7f]/g, (letter) => same.get(letter) ?? letter)
    .trim();
}
