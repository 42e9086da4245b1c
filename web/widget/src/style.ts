const made = new Map<string, CSSStyleSheet>()

/** Applies CSS to a shadow root. The page's policy does not restrict adopted style sheets. */
export function adopt(root: ShadowRoot, css: string): void {
  let sheet = made.get(css)
  if (!sheet) {
    made.set(css, sheet = new CSSStyleSheet())
    sheet.replaceSync(css)
  }
  root.adoptedStyleSheets.push(sheet)
}
