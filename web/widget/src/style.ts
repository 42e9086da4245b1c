const made = new Map<string, CSSStyleSheet>()

/** Dresses what is within a root. Adopted style sheets need no permission of the page's policy. */
export function adopt(root: ShadowRoot, css: string): void {
  let sheet = made.get(css)
  if (!sheet) {
    made.set(css, sheet = new CSSStyleSheet())
    sheet.replaceSync(css)
  }
  root.adoptedStyleSheets.push(sheet)
}
