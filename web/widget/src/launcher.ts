import { ink } from './color'
import type { Config } from './config'
import { h, icon } from './dom'
import type { Theme } from './public'
import css from './style.css'

/** The widget's element on the page. The page's CSS does not apply inside it. */
export interface Host {
  root: HTMLElement
  update(config: Config, theme?: Theme): void
  /** Marks the button with a sign and its meaning, or removes the mark. */
  mark(sign?: string | number, text?: string): void
  remove(): void
}

/** How long the page must keep the element until it may return again. */
const pause = 1000

const sides = ['top', 'right', 'bottom', 'left']

export function createHost(hidden: boolean, open: () => void, near: () => void): Host {
  const label = h('span', { dir: 'auto' })
  const mark = h('span', { class: 'mark', 'aria-hidden': true })
  const meaning = h('span', { class: 'unseen' })
  const button = h(
    'button',
    { class: 'launcher primary', 'aria-haspopup': 'dialog', hidden, click: open, pointerenter: near, focus: near },
    icon('M9 18h6M10 21h4M9 15a6 6 0 1 1 6 0v3H9z'),
    label,
    mark,
    meaning,
  )
  const root = h('div', { class: 'root', role: 'region' }, button)
  const host = h('gatherkit-widget' as 'div')
  const shadow = host.attachShadow({ mode: 'open' })
  // The page's policy does not restrict adopted style sheets.
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  shadow.adoptedStyleSheets.push(sheet)
  shadow.append(root)
  /** When the element may return. */
  let after = 0

  function attach(): void {
    const { documentElement: page, body } = document
    // Outside the body, because pages re-render and transform the body. But React 18 hydrates a document only
    // if it has nothing besides a head and a body. At the end of the body, it accepts strange elements.
    ;(page.childNodes[2] ? page : body).append(host)
    for (const part of [document, page, body]) watch.observe(part, { childList: true })
  }

  /** Returns after the page has removed the element, unless it does so again and again. */
  const watch = new MutationObserver(() => {
    if (host.isConnected || !document.body || performance.now() < after) return
    after = performance.now() + pause
    root.querySelector('dialog')?.close() // the browser no longer shows it
    attach()
  })

  return {
    root,
    update({ widget }, theme = 'auto') {
      const { position, primary_color, button_text } = widget
      const { style } = root
      if (host.dataset.at != position && !hidden) {
        // Several launchers in one corner stack up.
        style.setProperty('--slot', `${document.querySelectorAll(`gatherkit-widget[data-at=${position}]`).length * 60}px`)
        host.dataset.at = position
      }
      style.setProperty(
        '--inset',
        sides.map((side) => (position.includes(side) ? `max(20px, env(safe-area-inset-${side}))` : 'auto')).join(' '),
      )
      style.setProperty('--accent', primary_color)
      style.setProperty('--ink', ink(primary_color))
      style.colorScheme = theme == 'auto' ? '' : theme // without one of its own, it inherits the scheme of the page
      root.ariaLabel = label.textContent = button_text
      if (!host.isConnected) attach()
    },
    mark(sign = '', text = '') {
      mark.textContent = sign as string
      mark.title = text
      meaning.textContent = text && ` (${text})`
    },
    remove() {
      watch.disconnect()
      host.remove()
    },
  }
}
