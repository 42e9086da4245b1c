// Names are found, and tags compared, without case.
export function fold(text: string): string {
  return text.trim().toLowerCase();
}
