import { ink, luminance } from "../../../widget/src/color";

export const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

// readColor completes what people type: "4f46e5" and "#abc" are colours too.
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

const ratio = (n: number): string => `${n.toFixed(1)} : 1`;

// contrastHint says what a colour does to who has to read it. The widget chooses black or
// white for its text, which is read on any colour; a button of nearly the page's colour is
// overlooked all the same.
export function contrastHint(color: string): string {
  const [name, text] = ink(color) === "#000" ? ["black", "#000000"] : ["white", "#ffffff"];
  const own = `The button’s text will be ${name}, contrast ${ratio(contrast(color, text))}.`;
  const onWhite = contrast(color, "#ffffff");
  const onDark = contrast(color, "#15171c");
  if (onWhite < 2) return `${own} On a white page the button itself stands out little, ${ratio(onWhite)}.`;
  if (onDark < 2) return `${own} On a dark page the button itself stands out little, ${ratio(onDark)}.`;
  return own;
}
