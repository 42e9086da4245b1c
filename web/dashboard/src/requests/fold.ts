// fold returns text for a comparison that ignores case, and how Unicode spells letters with accents.
export function fold(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
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
