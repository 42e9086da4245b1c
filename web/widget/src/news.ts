import { createList, day, votesText } from './list'
import english from './locales/en.json'
import { markdown } from './markdown'
import type { Place, Tools } from './tools'

interface Entry {
  title: string
  /** Markdown. */
  body: string
  labels: string[]
  published_at: string
  /** The requests that it is about. */
  requests: { title: string; votes: number }[]
}

interface Page {
  entries: Entry[]
  next_cursor: string
  has_more: boolean
}

/** Shows what is new in a panel. The button of the list replaces the one of the panel, which loads this script. */
function openNews({ h, call, seen, ...place }: Tools & Place, button: HTMLElement): void {
  // Meanwhile, the button may be clicked twice, the panel closed, or an idea on its way.
  if (!button.checkVisibility({ visibilityProperty: true })) return
  const { t } = place
  const { toggle } = createList(h, place, { title: 'news', label: () => t('news'), part })

  async function part(cursor?: string) {
    const { entries, ...page } = await call<Page>('widget-entries', { cursor })
    seen()
    return { ...page, rows: entries.map(row) }
  }

  function row({ title, body, labels, published_at, requests }: Entry): HTMLElement {
    const facts = [h('time', { datetime: published_at }, day(t, published_at)), ...labels.map((label) => h('b', { dir: 'auto' }, label))]
    const behind = requests.map(({ title, votes }) => (
      h('li', {}, h('bdi', {}, title), ' ', h('small', {}, votesText(t, votes)))
    ))
    return h('li', {},
      h('h3', { dir: 'auto', tabindex: -1 }, title),
      h('div', { class: 'facts' }, ...facts),
      h('div', { class: 'text', dir: 'auto' }, ...markdown(h, body)),
      ...(behind[0] ? [h('h4', {}, t('news_behind')), h('ul', {}, ...behind)] : []))
  }

  button.replaceWith(toggle)
  toggle.click()
}

export default { english, openNews }
