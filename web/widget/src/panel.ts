import { failure } from './api'
import { h, icon } from './dom'
import type extrasScript from './extras'
import type { Extras } from './extras'
import { createForm, type Text } from './form'
import type { Outbox } from './outbox'
import { load } from './load'
import type { Prefill } from './public'
import type { Entry, Kept, Outcome } from './entries'
import { forgetDraft, read, uuid, write } from './storage'
import type { Place, Tools } from './tools'
import type { Note } from './unsent'

/** The script of the extras, and the outbox that it contains. */
export type Reached = typeof extrasScript & { outbox: Outbox }

export interface PanelOptions extends Omit<Tools, 'say'> {
  root: HTMLElement
  note: Note
  /** Loads the extras, and returns undefined if that fails. */
  reach(): Promise<Reached | undefined>
  /** Saves an idea, and returns whether it survives the page. */
  add(entry: Entry): Promise<boolean>
  flush(): void
  /** The e-mail address that the page has set, or true if the person has an identity token. */
  known(): true | string | undefined
  /** Creates an entry from the text and files. */
  compose(id: string, text: Text, files: Kept[], form: { website: string; seconds: number }): Entry
}

export interface Panel {
  /** Opens the panel, and returns whether it was closed. */
  open(prefill: Prefill): boolean
  close(): void
  /** Whether the panel is not in use and can be replaced. */
  idle(): boolean
  tell(id: string, outcome: Outcome): void
  remove(): void
}

/** A text that survives the page until the outbox has it. */
interface Draft extends Text {
  /** How long the form was open for it. */
  seconds: number
  /** The names of the files, which do not survive the page before the outbox has them. */
  files?: string[]
  /** The idempotency key, if exactly this text was given to the outbox. */
  id?: string
}

const icons = { sent: 'M5 12.5l4.5 4.5L19 7.5', waiting: 'M12 7v5l3 2M12 3a9 9 0 1 0 .1 0z' }

export function createPanel(options: PanelOptions): Panel {
  const { root, base, config, t, note, emit, own } = options
  const { app_id, widget, latest_entry } = config
  const status = h('p', { class: 'unseen', role: 'status' })
  const say = (text: string): void => void (status.textContent = text)
  const form = createForm(config, t, changed, submit)
  const view = h('div', { class: 'body' }, form.element)
  const heading = h('h2', { id: 'heading' }, t('heading'))
  const news = h('button', { class: 'turn', hidden: !latest_entry, click: showNews }, t('news'))
  const dialog = h(
    'dialog',
    { 'aria-labelledby': 'heading', close: closed, pointerdown: press, click: outside },
    h(
      'div',
      { class: 'bar' },
      heading,
      h('button', { class: 'icon', 'aria-label': t('close'), click: close }, icon('M6 6l12 12M18 6L6 18')),
    ),
    news,
    view,
    status,
  )
  const all: Tools & Place = { ...options, say, dialog, heading, show: turn, home: again }
  let extras: Extras | undefined
  let seconds = 0
  let since = 0
  /** Whether the outbox keeps the idea when the page is closed. */
  let durable = true
  /** The idea whose progress the panel shows. */
  let sending: string | undefined
  /** The key of a draft that may already be sent, because its page was closed while it was sending. */
  let resumed: string | undefined
  /** Where the pointer went down. */
  let pressed: EventTarget | null

  const spent = () => seconds + (performance.now() - since) / 1000
  const typed = ({ title, description } = form.text()) => title + description
  const keepDraft = (text?: Text, id?: string) => write(`draft:${app_id}`, text && {
    ...text, seconds: spent(), files: extras?.files?.().map(({ name }) => name), id,
  } satisfies Draft)

  function suggest(): void {
    extras?.search?.()
  }

  function changed(): void {
    const text = form.text()
    resumed = undefined
    keepDraft(typed(text) ? text : undefined)
    suggest()
  }

  /** Fills the empty form with a refused idea, a draft, or the page's prefill. */
  async function restore(prefill: Prefill): Promise<void> {
    if (typed()) return
    const outbox = note.made() ? (await options.reach())?.outbox : undefined
    const refused = await outbox?.refused()
    if (refused) return extras!.giveBack(refused)
    let draft = read<Draft>(`draft:${app_id}`)
    if (draft?.id && await outbox?.has(draft.id)) draft = undefined
    if (typed()) return // the person has typed meanwhile
    form.fill({ ...prefill, ...draft }, draft?.notify)
    seconds = draft?.seconds ?? 0
    resumed = draft?.id
    suggest()
    if (!draft?.files?.[0]) return
    await extend()
    extras?.miss?.(draft.files)
  }

  async function submit(): Promise<void> {
    if (sending || !form.check()) return
    const text = form.text()
    const id = resumed ?? uuid()
    sending = id
    form.alert()
    form.busy(true)
    say(t('sending'))
    keepDraft(text, id)
    try {
      // An idea that is only in memory stays a draft until it is sent.
      durable = await options.add(
        options.compose(id, text, extras?.files?.() ?? [], {
          website: form.website(),
          seconds: Math.round(spent()),
        }),
      )
      if (durable) forgetDraft(app_id, id)
    } catch {
      settle()
      return form.alert(t('outbox_full'))
    }
    emit('queued', { id })
    options.flush()
  }

  function settle(): void {
    sending = undefined
    form.busy(false)
    say('')
  }

  function tell(id: string, outcome: Outcome): void {
    if (id != sending) return
    const { state } = outcome
    if (state == 'progress') return extras?.progress?.(outcome.file, outcome.part)
    settle()
    clear()
    own(all)
    if (state == 'refused') restore({})
    else if (state == 'sent') result(state)
    else {
      sending = id // the outbox keeps trying, and reports the next outcome
      result(outcome.kind)
    }
  }

  function clear(): void {
    form.fill({ title: '', description: '' }, false)
    extras?.restore?.([])
    suggest()
    seconds = 0
    resumed = undefined
    since = performance.now()
  }

  function result(name: 'sent' | 'offline' | 'server' | 'identity'): void {
    const kind = name == 'sent' ? name : 'waiting'
    const heading = h('h3', { tabindex: -1 }, t(`${name}_heading`))
    const text = t(`${name}_text`) + (kind == name || durable ? '' : ` ${t('memory_text')}`)
    show(
      h(
        'div',
        { class: `result ${kind}` },
        h('div', { class: 'seal' }, icon(icons[kind])),
        heading,
        h('p', {}, text),
        h('div', { class: 'foot' }, h('button', { class: 'primary', click: again }, t('again'))),
      ),
    )
    heading.focus()
    say(text)
  }

  /** Shows something else than the outcome of an idea. */
  function turn(element: HTMLElement): void {
    sending = undefined
    show(element)
  }

  function again(): void {
    turn(form.element)
    form.title.focus()
  }

  function show(element: HTMLElement): void {
    if (view.firstChild != element) view.replaceChildren(element)
    heading.textContent = t('heading')
    dialog.dispatchEvent(new Event('turn'))
  }

  /** Shows what is new. The script for that loads when somebody wants to see it. */
  async function showNews(): Promise<void> {
    const script = await load(base, 'news')
    form.alert(script ? '' : t(`${failure(0).kind as 'offline'}_heading`))
    if (!script) addEventListener('online', () => form.alert(), { once: true })
    script?.openNews(all, news)
  }

  function close(): void {
    dialog.close()
  }

  function closed(): void {
    seconds = spent()
    if (view.firstChild != form.element) again()
    emit('close', {})
  }

  function press({ target }: Event): void {
    pressed = target
  }

  /** A selection of text that is dragged out of the panel also ends with a click there. */
  function outside({ target }: Event): void {
    if (target == dialog && pressed == dialog) close()
  }

  /** Loads the extras. If that fails, the next opening tries again. */
  async function extend(): Promise<void> {
    const script = await options.reach()
    extras ??= script?.extend(all, form)
    extras?.shield()
    suggest()
  }

  /** Keeps the panel above the keyboard of a phone. */
  function fit(): void {
    const { height, offsetTop } = visualViewport!
    dialog.style.setProperty('--below', `${Math.max(0, innerHeight - height - offsetTop)}px`)
  }

  visualViewport!.addEventListener('resize', fit)
  root.append(dialog)
  root.dir = t('dir')
  root.lang = t('lang')

  return {
    open(prefill) {
      if (dialog.open) return false
      const known = options.known()
      form.ask((widget.show_email_field || widget.require_email) && !known, known === true)
      since = performance.now()
      fit()
      dialog.showModal()
      extend()
      own(all)
      if (!sending) restore(prefill)
      return true
    },
    close,
    idle: () => !dialog.open && !sending,
    tell,
    remove() {
      visualViewport!.removeEventListener('resize', fit)
      close()
      dialog.remove()
    },
  }
}
