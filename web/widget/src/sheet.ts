const sheet = new CSSStyleSheet()

/** Adds the styles of a script that has loaded later, once for each widget. */
export function adopt(element: HTMLElement, css: string): void {
  const { adoptedStyleSheets } = element.getRootNode() as ShadowRoot
  sheet.replaceSync(css)
  if (!adoptedStyleSheets.includes(sheet)) adoptedStyleSheets.push(sheet)
}
