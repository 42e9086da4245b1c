import { ink, luminance } from "../../../widget/src/color";

export const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

// readColor also accepts "4f46e5" and "#abc".
export function readColor(text: string): string {
  const digits = text.trim().replace(/^#/, "");
  if (/^[0-9a-f]{6}$/i.test(digits)) return "#" + digits;
  if (/^[0-9a-f]{3}$/i.test(digits)) return "#" + digits.replace(/./g, "$&$&");
  return text;
}

function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const ratio = (n: number): string => `${n.toFixed(1)}:1`;

// contrastHint describes how readable a color is. The widget uses black or white text, which is
// readable on any color, but the button itself can be hard to see on the page.
export function contrastHint(color: string): string {
  const [name, text] = ink(color) === "#000" ? ["black", "#000000"] : ["white", "#ffffff"];
  const own = `Button text: ${name}, contrast ${ratio(contrast(color, text))}.`;
  const onWhite = contrast(color, "#ffffff");
  const onDark = contrast(color, "#15171c");
  if (onWhite < 2) return `${own} The button is hard to see on a white page (${ratio(onWhite)}).`;
  if (onDark < 2) return `${own} The button is hard to see on a dark page (${ratio(onDark)}).`;
  return own;
}
