import type { Failure } from './api'
import { tooLong } from './length'
import { createList, day, votesText } from './list'
import { markdown } from './markdown'
import css from './mine.css'
import type { Name } from './strings'
import type { AppTools, Place } from './tools'

/** The list of the person's own ideas in a panel, with the button that opens it. */
export interface Ideas {
  /** Shows how many news there are. */
  mark(unread: number): void
  remove(): void
}

interface IdeasTools extends AppTools {
  /** Calls an operation as the person. */
  ask<T>(operation: string, params?: object): Promise<T>
  /** Takes note of the number of news. */
  tell(unread: number): void
}

interface Comment {
  body: string
  at: string
  mine: boolean
}

interface Idea {
  id: string
  title: string
  status: string
  /** The app's own name of the status, or empty. */
  label: string
  votes: number
  asked: boolean
  unread: boolean
  can_reply: boolean
  news_at: string | null
  comments: Comment[]
}

interface Page {
  app_name: string
  requests: Idea[]
  next_cursor: string
  has_more: boolean
  unread: number
}

/** Replies that are not sent, by request. */
const drafts = new Map<string, string>()

export function createIdeas({ base, h, ask, tell }: IdeasTools, place: Place): Ideas {
  const { heading, t, say } = place
  const copied = h('input', { readonly: true, hidden: true, 'aria-label': t('mine_link') })
  const link = h('button', { class: 'more', click: copy }, t('mine_link'))
  const problem = h('p', { class: 'error', role: 'alert' })
  const foot = h('div', { class: 'foot' }, copied, problem, link)
  const label = () => t(news ? 'mine_new' : 'mine', { count: news })
  let news = 0
  /** The latest news that the list has shown. */
  let seen = ''
  const list = createList(h, place, { title: 'mine', css, label, part }, foot)

  /** Marks the news that the list has shown as seen. If that fails, they stay unread. */
  async function see(seen_until: string): Promise<void> {
    try {
      await ask('widget-my-requests', { seen_until, limit: 1 })
      tell((await ask<{ unread: number }>('widget-news')).unread)
    } catch {
      // The next opening tries again.
    }
  }

  async function part(cursor?: string) {
    const { app_name, requests, unread, ...page } = await ask<Page>('widget-my-requests', { cursor })
    for (const { news_at } of requests) if (news_at && news_at > seen) seen = news_at
    tell(unread)
    if (unread) see(seen)
    return { ...page, rows: requests.map((idea) => row(idea, app_name)) }
  }

  function row({ id, title, status, label, votes, asked, unread, can_reply, comments }: Idea, app: string): HTMLElement {
    const talk = h('div', {}, ...comments.map(comment))
    const facts = [
      ...(unread ? [h('b', {}, t('mine_unread'))] : []),
      h('span', {}, label || t(`mine_${status}` as Name)),
      h('span', {}, votesText(t, votes)),
      ...(asked ? [] : [h('span', {}, t('mine_voted'))]),
    ]

    function comment({ body, at, mine }: Comment): HTMLElement {
      const from = h('small', {}, h('bdi', {}, mine ? t('mine_you') : app), ' · ', day(t, at))
      // The team writes Markdown, and the person a plain text.
      const text = mine ? [h('p', {}, body)] : markdown(h, body)
      return h('div', { class: 'note' }, from, h('div', { class: 'text', dir: 'auto' }, ...text))
    }

    function reply(): HTMLElement {
      const field = h('textarea', { dir: 'auto', 'aria-label': t('mine_reply') })
      const failed = h('p', { class: 'error', role: 'alert' })
      const send = h('button', { class: 'more', click: submit }, t('mine_send'))
      field.value = drafts.get(id) ?? ''
      field.oninput = () => {
        drafts.set(id, field.value)
        check()
      }

      function check(): boolean {
        const problem = failed.textContent = tooLong(t, field.value.trim(), 10_000)
        field.ariaInvalid = String(!!problem)
        return !problem
      }

      async function submit(): Promise<void> {
        const body = field.value.trim()
        if (!body || !check()) return field.focus()
        if (send.ariaDisabled == 'true') return
        send.ariaDisabled = 'true'
        try {
          talk.append(comment((await ask<{ comment: Comment }>('widget-reply', { request_id: id, body })).comment))
          drafts.delete(id)
          field.value = ''
          say(t('mine_sent'))
        } catch (error) {
          failed.textContent = reason(error)
        }
        send.ariaDisabled = 'false'
      }
      return h('details', {}, h('summary', {}, t('mine_reply')), field, failed, send)
    }

    const heading = h('h3', { dir: 'auto', tabindex: -1 }, title)
    const rest = can_reply ? [reply()] : comments.length ? [h('p', { class: 'facts' }, t('mine_later'))] : []
    return h('li', {}, heading, h('div', { class: 'facts' }, ...facts), talk, ...rest)
  }

  function reason(error: unknown): string {
    const { kind, message } = error as Failure
    return kind == 'refused' ? message : t('mine_problem')
  }

  async function copy(): Promise<void> {
    problem.textContent = ''
    try {
      // Without a public address, the service answers with a path.
      copied.value ||= new URL((await ask<{ url: string }>('widget-my-link')).url, base).href
    } catch (error) {
      problem.textContent = reason(error)
      return
    }
    // Browsers may refuse the clipboard. Then the person copies the selected text.
    copied.hidden = false
    copied.select()
    await navigator.clipboard?.writeText(copied.value).then(() => say(link.textContent = t('mine_copied')), () => {})
  }

  heading.after(list.toggle)

  return {
    mark(unread) {
      news = unread
      list.name()
    },
    remove: list.remove,
  }
}
