import { caller, type Failure } from './api'
import { type Config, fetchConfig, keepConfig, lastConfig } from './config'
import type { Emit } from './events'
import { createHost, type Host } from './launcher'
import { type Outbox, openOutbox } from './outbox'
import { createPanel, type Panel } from './panel'
import type { BootOptions, Identity, Prefill, Settings } from './public'
import type { Entry, Kept, Outcome } from './entries'
import { forgetDraft } from './storage'
import { type Translate, translator } from './strings'

/** How long to wait before the first configuration is requested again. */
const retryDelay = 30_000

/** The widget of one app. */
export interface App {
  open(prefill?: Prefill): void
  close(): void
  identify(identity?: Identity): void
  set(settings: Settings): void
  destroy(): void
}

/** The person of a token, only to compare tokens. The service verifies them. */
export function subject(token: string): string {
  try {
    const claims = JSON.parse(atob(token.split('.')[1]!.replace(/-/g, '+').replace(/_/g, '/')))
    return String(claims.sub ?? claims.email)
  } catch {
    return token
  }
}

export function start(options: BootOptions, base: string, emit: Emit): App {
  const { key, launcher, trigger } = options
  const settings: Settings = { ...options }
  const call = caller(base, key)
  const ended = new AbortController()
  const { signal } = ended
  let identity: Identity = options.identity ?? {}
  let config: Config | undefined
  let outbox: Outbox | undefined
  let panel: Panel | undefined
  let host: Host | undefined
  let unsent: Entry[] = []
  /** Set if the panel should open as soon as it can. */
  let wanted: Prefill | undefined
  let timer = 0

  const language = () => settings.locale || document.documentElement.lang || navigator.language
  const signed = () => !!(identity.token || identity.getToken)
  const texts = (): Promise<Translate> => translator(base, language(), settings.strings)

  function failed(error: unknown, id?: string): void {
    const { kind, code, message } = error as Failure
    emit('error', { kind, code, message, ...(id && { id }) })
  }

  async function askToken(fresh: boolean): Promise<string | undefined> {
    const asked = identity
    if (asked.getToken && (fresh || !asked.token)) {
      try {
        asked.token = await asked.getToken()
      } catch {
        // The service decides about the old one.
      }
    }
    return asked.token
  }

  /** The token of the idea's author, never that of another person. */
  async function tokenOf(entry: Entry, fresh: boolean): Promise<string | undefined> {
    const token = await askToken(fresh)
    entry.token ??= token
    return token && subject(token) == subject(entry.token!) ? token : entry.token
  }

  function compose(
    id: string,
    { title, description, email }: { title: string; description: string; email: string },
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
      fields: { title, description, ...person, form, metadata },
    }
  }

  /** Handles the outcome of an idea, even if another tab sent it. */
  function tell(id: string, outcome: Outcome): void {
    if (outcome.state == 'sent') forgetDraft(config!.app_id, id)
    panel?.outcome(id, outcome)
  }

  /** Marks the launcher while ideas are unsent. */
  async function left(entries: Entry[]): Promise<void> {
    unsent = entries
    const count = entries.length
    const refused = entries.some(({ refusal }) => refusal)
    const text = count ? (await texts())(refused ? 'refused_heading' : 'unsent', { count }) : ''
    if (unsent == entries) host!.mark(refused ? '!' : String(count || ''), text)
  }

  function apply(fresh: Config): void {
    if (JSON.stringify(config) != JSON.stringify(fresh)) renew()
    config = fresh
    host ??= createHost(launcher == 'none', () => api.open(), texts)
    host.update(config, settings.theme)
    if (outbox) return
    const { app_id } = config
    outbox = openOutbox({ app: app_id, base, call, token: tokenOf, tell, left, failed, emit })
    outbox.flush(true)
    emit('ready', { app_id })
    if (wanted) api.open(wanted)
  }

  /** Makes the panel use the new settings the next time it opens. */
  function renew(): void {
    if (!panel?.idle()) return
    panel.remove()
    panel = undefined
  }

  async function load(): Promise<void> {
    clearTimeout(timer)
    try {
      const fresh = await fetchConfig(base, key)
      if (signal.aborted) return
      keepConfig(key, fresh)
      apply(fresh)
    } catch (error) {
      if (signal.aborted) return
      failed(error)
      const { kind, message } = error as Failure
      if (kind == 'refused') {
        // The app was deleted, has a new key, or does not allow this page.
        keepConfig(key)
        host?.remove()
        console.warn(`Gatherkit: ${message}`)
      } else if (!config) {
        timer = setTimeout(load, retryDelay)
      }
    }
  }

  async function makePanel(): Promise<Panel> {
    const t = await texts()
    const { root } = host!
    return panel ??= createPanel({
      root, base, t, compose, config: config!, outbox: outbox!,
      tools: { call, failed, token: askToken, emit },
      known: () => signed() || !!identity.email,
    })
  }

  const api: App = {
    async open(prefill = {}) {
      wanted = prefill
      if (!outbox) return
      const made = await makePanel()
      if (!wanted || signal.aborted) return // closed meanwhile
      wanted = undefined
      host!.update(config!, settings.theme) // the page may have changed its colour scheme
      if (made.open({ ...settings.prefill, ...prefill })) emit('open', {})
    },
    close() {
      wanted = undefined
      panel?.close()
    },
    identify(next = {}) {
      identity = { ...next }
      outbox?.flush(true)
    },
    set(changes) {
      Object.assign(settings, changes)
      if (config) {
        host!.update(config, settings.theme)
        left(unsent)
      }
      renew()
    },
    destroy() {
      ended.abort()
      clearTimeout(timer)
      panel?.close()
      panel?.remove()
      outbox?.stop()
      host?.remove()
    },
  }

  function wake(): void {
    if (!config) load()
    outbox?.flush(true)
  }

  addEventListener('online', wake, { signal })
  document.addEventListener('visibilitychange', () => document.hidden || wake(), { signal })
  document.addEventListener('click', (event) => {
    if (!trigger || !(event.target as Element).closest?.(trigger)) return
    event.preventDefault()
    api.open()
  }, { signal })
  const last = lastConfig(key)
  if (last) apply(last)
  load()
  return api
}
