import { caller, failure, type Failure } from './api'
import { type Config, fetchConfig } from './config'
import type { Emit } from './events'
import { h, icon } from './dom'
import type { Text } from './form'
import { createHost, type Host } from './launcher'
import { load } from './load'
import type { Mine } from './mine'
import type { Outbox } from './outbox'
import { createPanel, type Panel, type Reached } from './panel'
import type { BootOptions, Identity, Prefill, Settings } from './public'
import type { Entry, Kept, Outcome } from './entries'
import { forgetDraft, keep, read, secret, uuid, write } from './storage'
import { type Name, type Translate, translator } from './strings'
import type { AppTools, Place } from './tools'
import { createNote, type Note } from './unsent'

/** How long to wait before the first configuration or the outbox is requested again. */
const retryDelay = 30_000

/** How long after the page the widget asks for news. */
const newsDelay = 3000

/** How long the launcher shows that an idea was sent. */
const sentTime = 5000

/** The widget of one app. */
export interface App {
  open(prefill?: Prefill): void
  close(): void
  identify(identity?: Identity): void
  set(settings: Settings): void
  destroy(): void
}

export function start(options: BootOptions, base: string, emit: Emit): App {
  const { key, launcher, trigger } = options
  const settings: Settings = { ...options }
  const call = caller(base, key)
  /** The name of the configuration of the last visit, so that the widget also works offline. */
  const saved = `config:${key}`
  const tools: AppTools = { base, h, icon, keep, uuid, call, token, reader, emit, failed, told, own, seen }
  const ended = new AbortController()
  const { signal } = ended
  let identity: Identity = options.identity ?? {}
  let config: Config | undefined
  let note: Note | undefined
  let outbox: Outbox | undefined
  let panel: Panel | undefined
  let host: Host | undefined
  let mine: Mine | undefined
  let channel: BroadcastChannel | undefined
  let unread = 0
  /** How many ideas were sent just now. */
  let sent = 0
  let marks = 0
  /** Set if the panel should open as soon as it can. */
  let wanted: Prefill | undefined
  let timer = 0

  const language = () => settings.locale || document.documentElement.lang || navigator.language
  const signed = () => !!(identity.token || identity.getToken)
  /** Unverified people are distinguished by what the page says, so that they do not see each other's ideas. */
  const who = () => signed() ? '*' : identity.external_id || identity.email || ''
  const readerName = () => `reader:${config!.app_id}${who()}`
  const texts = (): Promise<Translate> => translator(base, language(), settings.strings)

  function failed(error: unknown, id?: string): void {
    const { kind, code, message } = error as Failure
    emit('error', { kind, code, message, ...(id && { id }) })
  }

  async function token(fresh: boolean): Promise<string | undefined> {
    const asked = identity
    if (fresh || !asked.token) {
      try {
        asked.token = await asked.getToken!()
      } catch {
        // There is no such function, or it failed. The service decides about the old one.
      }
    }
    return asked.token
  }

  /** The person's secret. For verified people, it only says that this browser knows them. */
  function reader(): string | undefined {
    const made = keep(readerName(), secret)
    return signed() ? undefined : made
  }

  /** Asks for news if the browser knows the person, or offers the list of their own ideas in a panel. */
  async function own(place?: Place): Promise<void> {
    const asked = who()
    if (!config || !(place && signed() || read(readerName()))) return
    const script = await load(base, 'mine')
    if (!script || asked != who() || signal.aborted) return
    mine ??= script.createMine(tools)
    mine.news(place)
  }

  function told(count: number): void {
    unread = count
    mark()
  }

  function seen(): void {
    config!.seen = config!.latest_entry
    write(saved, config)
    mark()
  }

  function compose(
    id: string,
    { email, ...text }: Text,
    files: Kept[],
    form: object,
  ): Entry {
    const { token, external_id, name } = identity
    const person = signed() ? {} : { email: email.trim() || identity.email, name, external_id }
    // Without query and fragment, which can contain secrets.
    const metadata = {
      page: location.origin + location.pathname,
      locale: language(),
      user_agent: navigator.userAgent,
      ...settings.metadata,
    }
    return {
      id,
      app: config!.app_id,
      files,
      at: Date.now(),
      tries: 0,
      next: 0,
      signed: signed(),
      token,
      fields: { ...text, ...person, reader: reader(), form, metadata },
    }
  }

  /**
   * What the tabs tell each other about ideas. It opens when the page needs it, because a
   * channel can keep the page out of the back/forward cache.
   */
  function tabs(): BroadcastChannel {
    if (!channel) {
      channel = new BroadcastChannel(`gatherkit-outbox:${config!.app_id}`)
      channel.onmessage = ({ data: [id, outcome] }) => (outbox?.hear ?? tell)(id, outcome)
    }
    return channel
  }

  /** Handles the outcome of an idea, even if another tab sent it. */
  function tell(id: string, outcome: Outcome): void {
    if (outcome.state == 'sent') {
      forgetDraft(config!.app_id, id)
      sent++
      setTimeout(() => {
        sent--
        mark()
      }, sentTime)
      own()
    }
    panel?.tell(id, outcome)
  }

  async function reach(): Promise<Reached | undefined> {
    const script = await load(base, 'extras')
    if (!script || signal.aborted) return
    outbox ??= script.openOutbox({ ...tools, app: config!.app_id, failure, note: note!, tell, channel: tabs() })
    return { ...script, outbox }
  }

  /** Saves an idea, and returns whether it survives the page. Without the outbox, it waits in the note, and any tab can send it. */
  async function add(entry: Entry): Promise<boolean> {
    if (outbox) return outbox.add(entry)
    tabs()
    return note!.set({ waiting: [...note!.get().waiting, entry] })
  }

  /** Sends what is due, if anything is unsent. If eager, also retries ideas that failed. */
  async function flush(eager = false): Promise<void> {
    if (!note?.made() || signal.aborted) return
    const reached = await reach()
    if (reached) return reached.outbox.flush(eager)
    const reason = failure(0)
    const kind = reason.kind as 'offline' | 'server'
    let { count, waiting } = note.get()
    for (const entry of waiting) {
      if (!entry.tries++) count++
      failed(reason, entry.id)
      tell(entry.id, { state: 'waiting', kind })
    }
    note.set({ count, waiting })
    if (kind == 'server') setTimeout(flush, retryDelay)
  }

  /** Marks the launcher while ideas are unsent, after they were sent, and while something is new. */
  async function mark(): Promise<void> {
    const turn = ++marks
    const { count: left, refused } = note!.get()
    const count = left || unread
    const { latest_entry, seen } = config!
    const [sign, name]: [(string | number)?, Name?] =
      refused ? ['!', 'refused_heading']
      : left ? [left, 'unsent']
      : sent ? ['✓', 'sent_text']
      : unread ? ['●', 'mine_news']
      : latest_entry && latest_entry != seen ? ['●', 'news'] : []
    const text = name && (await texts())(name, { count })
    if (turn == marks) host!.mark(sign, text)
  }

  function apply(fresh: Config): void {
    if (JSON.stringify(config) != JSON.stringify(fresh)) renew()
    config = fresh
    host ??= createHost(launcher == 'none', () => api.open(), texts)
    host.update(config, settings.theme)
    const { app_id } = config
    const first = !note
    note ??= createNote(app_id, mark)
    mark()
    if (!first) return
    flush(true)
    setTimeout(own, newsDelay)
    emit('ready', { app_id })
    if (wanted) api.open(wanted)
  }

  /** Makes the panel use the new settings the next time it opens. */
  function renew(): void {
    if (!panel?.idle()) return
    panel.remove()
    panel = undefined
  }

  async function loadConfig(): Promise<void> {
    clearTimeout(timer)
    try {
      const fresh = await fetchConfig(base, key)
      if (signal.aborted) return
      fresh.seen = config ? config.seen : fresh.latest_entry
      write(saved, fresh)
      apply(fresh)
    } catch (error) {
      if (signal.aborted) return
      failed(error)
      const { kind, message } = error as Failure
      if (kind == 'refused') {
        // The app was deleted, has a new key, or does not allow this page.
        write(saved)
        host?.remove()
        console.warn(`Gatherkit: ${message}`)
      } else if (!config) {
        timer = setTimeout(loadConfig, retryDelay)
      }
    }
  }

  async function makePanel(): Promise<Panel> {
    const t = await texts()
    const { root } = host!
    return panel ??= createPanel({
      ...tools, root, t, compose, add, flush, reach, note: note!, config: config!, known: () => signed() || identity.email,
    })
  }

  const api: App = {
    async open(prefill = {}) {
      wanted = prefill
      if (!note) return
      const made = await makePanel()
      if (!wanted || signal.aborted) return // closed meanwhile
      wanted = undefined
      host!.update(config!, settings.theme) // the page may have removed it
      if (made.open({ ...settings.prefill, ...prefill })) emit('open', {})
    },
    close() {
      wanted = undefined
      panel?.close()
    },
    identify(next = {}) {
      const before = who()
      identity = { ...next }
      if (signed() || who() != before) {
        mine?.end()
        mine = undefined
        own()
      }
      flush(true)
    },
    set(changes) {
      Object.assign(settings, changes)
      if (config) {
        host!.update(config, settings.theme)
        mark()
      }
      renew()
    },
    destroy() {
      ended.abort()
      clearTimeout(timer)
      mine?.end()
      panel?.remove()
      outbox?.stop()
      channel?.close()
      host?.remove()
    },
  }

  function wake(): void {
    if (!config) loadConfig()
    flush(true)
    own()
  }

  /** Starts when the page is parsed, because what follows the widget's element in the body may be hydrated. */
  function begin(): void {
    addEventListener('online', wake, { signal })
    addEventListener('storage', () => note && mark(), { signal })
    document.addEventListener('visibilitychange', () => document.hidden || wake(), { signal })
    const last = read<Config>(saved)
    if (last) apply(last)
    loadConfig()
  }

  // While the event is captured, because menus often stop it, with its path through shadow roots.
  addEventListener('click', (event) => {
    const path = event.composedPath() as Element[]
    if (!trigger || path.includes(host?.root!) || !path.some((part) => part.matches?.(trigger))) return
    event.preventDefault()
    api.open()
  }, { signal, capture: true })
  if (document.readyState == 'loading') addEventListener('DOMContentLoaded', begin, { signal })
  else begin()
  return api
}
