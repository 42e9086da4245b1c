import type { Failure } from './api'
import type { Tools } from './tools'
import { createVotes } from './votes'

/** The list of requests that are similar to the title. */
export interface Similar {
  element: HTMLElement
  /** Looks for requests like what is typed. */
  search(): void
}

interface Request {
  id: string
  title: string
  status: string
  votes: number
  voted: boolean
}

const pause = 300
const shortest = 3

/** How many requests are shown at once, so that they do not push the form out of view. */
const most = 2

/** How long no vote for another request counts, in milliseconds: the second tap of two may hit it, as the list has moved. */
const apart = 600

/** How many characters of what the person has typed a vote keeps. */
const longest = 500

/** How many characters of the title the search takes. */
const longestTitle = 200

/** The beginning of a text, with whole characters. */
const begin = (text: string, most: number): string => [...text].slice(0, most).join('')

export function createSimilar(tools: Tools, typed: () => { title: string; description: string }, leave: () => void): Similar {
  const { h, icon, t, say, call } = tools
  const votes = createVotes(tools)
  const list = h('ul')
  const rest = h('ul')
  const more = h('details', {}, h('summary', {}, t('similar_more')), rest)
  const told = h('span')
  const done = h('button', { click: leave }, t('done'))
  const thanks = h('p', { class: 'thanks', hidden: true }, told, done)
  const element = h(
    'section', { class: 'similar', 'aria-label': t('similar'), hidden: true },
    h('h3', {}, t('similar')), h('p', {}, t('similar_text')), list, more, thanks,
  )
  const number = (count: number) => count.toLocaleString(t('lang'))
  // Each request keeps its row, because a vote may be counted after the next search.
  const rows = new Map<string, HTMLElement>()
  let timer = 0
  let wanted = ''
  let last = { id: '', at: -apart }

  /** Says what has become of a vote. */
  function tell(text: 'voted' | 'unvoted' | 'vote_failed'): void {
    told.textContent = t(text)
    done.hidden = text != 'voted'
    thanks.hidden = text == 'unvoted'
    say(t(text))
  }

  function row({ id, title, votes: count, voted }: Request): HTMLElement {
    const shown = h('span', {}, number(count))
    const button = h(
      'button',
      { class: 'vote', 'aria-pressed': String(voted), click: vote },
      h('span', { class: 'unseen' }, t('vote', { title }), ', '),
      icon('M6 15l6-6 6 6'),
      shown,
    )
    async function vote({ timeStamp }: Event): Promise<void> {
      if (id != last.id && timeStamp < last.at + apart) return
      last = { id, at: timeStamp }
      try {
        const draft = typed() // would be lost if the person does not send it
        const why = begin(draft.title + ' ' + draft.description, longest)
        const result = await votes.cast(id, button.ariaPressed == 'true', why)
        shown.textContent = number(result.votes)
        button.ariaPressed = String(result.voted)
        tell(result.voted ? 'voted' : 'unvoted')
      } catch {
        tell('vote_failed')
      }
    }
    return h('li', {}, h('span', { dir: 'auto', title }, title), button)
  }

  function show(requests: Request[]): void {
    const before = element.hidden
    const focused = (element.getRootNode() as ShadowRoot).activeElement as HTMLElement
    for (const request of requests) if (!rows.has(request.id)) rows.set(request.id, row(request))
    const found = requests.map(({ id }) => rows.get(id)!)
    rest.replaceChildren(...found.splice(most))
    more.hidden = !rest.firstChild
    list.replaceChildren(...found)
    element.hidden = !requests.length
    if (element.contains(focused)) focused.focus()
    if (before && !element.hidden) say(t('similar_found'))
  }

  async function ask(text: string, voter: object): Promise<void> {
    try {
      const { requests } = await call<{ requests: Request[] }>('widget-similar-requests', { text, ...voter })
      if (text == wanted) show(requests)
    } catch (error) {
      // Requests are similar for people whose token is refused, too.
      if ((error as Failure).kind == 'identity') return ask(text, {})
      throw error
    }
  }

  return {
    element,
    search() {
      clearTimeout(timer)
      thanks.hidden = true // Done would discard what is typed now
      wanted = begin(typed().title.trim(), longestTitle)
      if (wanted.length < shortest) return show([])
      // Errors do not matter: the person can still send the idea.
      timer = setTimeout(() => votes.voter().then((voter) => ask(wanted, voter)).catch(() => {}), pause)
    },
  }
}
