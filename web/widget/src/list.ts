import css from './list.css'
import { adopt } from './sheet'
import type { Name, Translate } from './strings'
import type { Place, Tools } from './tools'

/** A part of a list, as the service answers with it, and its rows, each with a heading. */
interface Part {
  rows: HTMLElement[]
  next_cursor: string
  has_more: boolean
}

interface Content {
  /** The name of its texts. */
  title: 'mine' | 'news'
  css?: string
  /** What the button that opens the list says. */
  label(): string
  part(cursor?: string): Promise<Part>
}

/** A list in a panel that is loaded part by part, and the button that opens it. */
export interface List {
  toggle: HTMLElement
  /** Updates the button. */
  name(): void
  remove(): void
}

/** A day as the person's language writes it. */
export const day = (t: Translate, at: string) => new Date(at).toLocaleDateString(t('lang'), { dateStyle: 'medium' })

/** A number of votes as the person's language writes it. */
export const votesText = (t: Translate, count: number) =>
  t(`mine_votes_${new Intl.PluralRules(t('lang')).select(count)}` as Name, { count: count.toLocaleString(t('lang')) })

export function createList(h: Tools['h'], place: Place, { title, css: own = '', label, part }: Content, ...foot: HTMLElement[]): List {
  const { dialog, heading, t, show, home } = place
  const note = h('p', { tabindex: -1 })
  const more = h('button', { class: 'more', click: load })
  const toggle = h('button', { class: 'turn', click: turn })
  let list = h('ul')
  const view = h('div', { class: 'list' }, list, note, more, ...foot)
  let cursor: string | undefined

  function name(): void {
    toggle.textContent = view.isConnected ? t('heading') : label()
  }

  function turn(): void {
    if (view.isConnected) return home()
    const fresh = h('ul')
    list.replaceWith(fresh)
    list = fresh
    cursor = undefined
    show(view)
    heading.textContent = t(title)
    load()
  }

  /** Says what the list has instead of rows. */
  function state(text: Name): void {
    note.textContent = t(text)
    note.focus()
  }

  async function load(): Promise<void> {
    const into = list
    state('mine_loading')
    more.hidden = true
    try {
      const { rows, next_cursor, has_more } = await part(cursor)
      if (into != list) return // opened again meanwhile
      const next = cursor ? rows[0]?.querySelector('h3') : heading
      into.append(...rows)
      cursor = next_cursor
      more.hidden = !has_more
      more.textContent = t(`${title}_more`)
      if (!into.firstChild && !has_more) return state(`${title}_empty`) // a part can be empty without being the last
      if (note.matches(':focus')) next?.focus()
      note.textContent = ''
    } catch {
      if (into != list) return
      state('mine_failed')
      more.hidden = false
      more.textContent = t('mine_again')
    }
  }

  adopt(dialog, css + own)
  heading.tabIndex = -1
  dialog.addEventListener('turn', name)
  name()

  return {
    toggle,
    name,
    remove() {
      if (view.isConnected) home()
      dialog.removeEventListener('turn', name)
      toggle.remove()
    },
  }
}
