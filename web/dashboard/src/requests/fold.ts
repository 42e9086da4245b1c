// fold returns text for a comparison that ignores case, invisible characters, and how Unicode spells letters with accents.
export function fold(text: string): string {
  return visible(text).toUpperCase().toLowerCase().normalize("NFC").trim(); // ß becomes SS
}

// foldEmail is fold letter by letter, with the domain as DNS has it: strauß and strauss are two mailboxes.
export function foldEmail(email: string): string {
  const shown = visible(email).trim();
  const at = shown.lastIndexOf("@") + 1;
  const lower = (text: string) => text.toLowerCase().replace(/ς/g, "σ").normalize("NFC");
  try {
    return lower(shown.slice(0, at)) + new URL("http://" + shown.slice(at)).hostname;
  } catch {
    return lower(shown);
  }
}

const visible = (text: string) => text.replace(/[\p{Cf}\p{DI}]/gu, "").normalize("NFC");
