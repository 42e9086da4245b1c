type Props = Record<string, string | number | boolean | ((event: any) => void)>

function fill<E extends Element>(element: E, props: Props, children: (Node | string)[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value == 'function') element.addEventListener(name, value)
    else if (value !== false) element.setAttribute(name, String(value))
  }
  element.append(...children)
  return element
}

/** Creates an element. Props that are functions become event listeners, and false sets nothing. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), props, children)
}

/** Creates an icon from a path on a grid of 24. */
export function icon(d: string): SVGElement {
  const draw = (tag: 'svg' | 'path', props: Props, ...children: Node[]): SVGElement =>
    fill(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children)
  return draw('svg', { viewBox: '0 0 24 24', 'aria-hidden': true }, draw('path', { d }))
}
