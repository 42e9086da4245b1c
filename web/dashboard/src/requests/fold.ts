// fold returns text for a comparison that ignores case.
export function fold(text: string): string {
  return text.trim().toLowerCase();
}
