// fold returns text for a comparison that ignores case, invisible characters, and how Unicode spells letters with accents.
export function fold(text: string): string {
  const visible = text.replace(/[\p{Cf}\p{DI}]/gu, "").normalize("NFC");
  return visible.toUpperCase().toLowerCase().normalize("NFC").trim(); // ß becomes SS
}

// foldEmail is fold, with the domain as DNS has it.
export function foldEmail(email: string): string {
  const folded = fold(email);
  const at = folded.lastIndexOf("@") + 1;
  try {
    return folded.slice(0, at) + new URL("http://" + folded.slice(at)).hostname;
  } catch {
    return folded;
  }
}
