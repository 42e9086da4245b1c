import type { Failure } from './api'
import { upload } from './attachments'
import type { ErrorKind, SubmittedRequest } from './public'
import type { Entry } from './entries'
import type { SenderTools } from './tools'

/** The service keeps idempotency keys for 30 days. After that, it could store an idea twice. */
const oldest = 29 * 24 * 3600_000

/** The longest timer, because clocks change and timers have a limit. */
const longest = 600_000

/** A failure that is detected before the call. */
const refusal = (kind: ErrorKind, code: string): Partial<Failure> => ({ kind, code })

/** The delay after a number of failures: from 2 s to 5 min, varied by up to 50 %. */
export function backoff(tries: number, chance = Math.random()): number {
  return Math.min(2000 * 2 ** (tries - 1), 300_000) * (0.5 + chance)
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

export interface Sender {
  /** Sends what is due. If eager, also retries ideas that failed. */
  flush(eager: boolean): void
  stop(): void
}

/** Sends the ideas of the outbox, one at a time and in one tab at a time. */
export function createSender(tools: SenderTools): Sender {
  const { app, call, token, tell, emit, failed, list, put, remove, alone } = tools
  /** Ideas that wait for the page, for a new key or token. */
  const blocked = new Set<string>()
  let timer = 0
  let stopped = false
  let running = false
  let again: boolean | undefined

  /** Stores an entry again, and takes the stored files, because Firefox can no longer read those of a replaced entry. */
  async function store(entry: Entry): Promise<void> {
    if (await put(entry)) entry.files = (await list(app)).find(({ id }) => id == entry.id)?.files ?? entry.files
  }

  /** The token of the idea's author, never that of another person. */
  async function tokenOf(entry: Entry, fresh: boolean): Promise<string | undefined> {
    const now = await token(fresh)
    entry.token ??= now
    return now && subject(now) == subject(entry.token!) ? now : entry.token
  }

  async function submit(entry: Entry, fresh = false): Promise<SubmittedRequest> {
    const { id, fields, signed } = entry
    const identity_token = signed ? await tokenOf(entry, fresh) : undefined
    if (signed && !identity_token) throw refusal('identity', 'widget.identity_expired')
    let old = 0
    for (const file of entry.files.keys()) {
      const kept = entry.files[file]! // store replaces the files
      if (kept.upload) {
        old++
        continue
      }
      kept.upload = await upload(tools, kept, (part) => tools.tell(id, { state: 'progress', file, part }))
        .catch((error: Failure) => { throw { ...error, file: kept.name } })
      await store(entry)
    }
    const { files } = entry
    try {
      const attachments = files.length ? files.map((kept) => kept.upload) : undefined
      return (
        await call<{ request: SubmittedRequest }>('widget-submit-request', { ...fields, idempotency_key: id, identity_token, attachments })
      ).request
    } catch (error) {
      const { kind, code } = error as Failure
      if (kind == 'identity' && !fresh) return submit(entry, true)
      if (code == 'widget.invalid_attachments' && old) {
        // The service has removed the old uploads: upload them again.
        for (const kept of files) delete kept.upload
      } else if (code == 'widget.invalid_metadata' && fields.metadata) {
        // The person cannot fix the page's metadata: send the idea without it.
        failed(error, id)
        delete fields.metadata
      } else {
        throw error
      }
      await store(entry)
      return submit(entry, fresh)
    }
  }

  /** Sends one idea, and returns the time of the next try, or 0. */
  async function send(entry: Entry): Promise<number> {
    const { id } = entry
    try {
      if (entry.at < Date.now() - oldest) throw refusal('refused', 'too_old')
      const request = await submit(entry)
      await remove(id)
      emit('submit', { id, request }) // only in the tab that sent it
      tell(id, { state: 'sent' })
      return 0
    } catch (error) {
      // Unexpected errors count as server errors, so that no idea is lost.
      const { kind = 'server', code = 'unexpected', message = '', wait, file } = error as Partial<Failure> & { file?: string }
      const seconds = Number(wait) || 0
      if (kind == 'refused') entry.refusal = { code, message, file }
      if (kind == 'identity' || kind == 'key') blocked.add(id)
      if (kind == 'server') {
        entry.bound = seconds > 0
        entry.next = Date.now() + Math.max(seconds * 1000, backoff(++entry.tries))
      }
      await put(entry)
      failed({ kind, code, message }, id)
      // The person can do nothing about a wrong key, and reads the same as after a server error.
      tell(id, kind == 'refused' ? { state: kind } : { state: 'waiting', kind: kind == 'key' ? 'server' : kind })
      return kind == 'server' ? entry.next : 0
    }
  }

  /** Sends what is due. A failure ends the round, because the next idea would fail as well. */
  async function round(eager: boolean): Promise<void> {
    let next = Infinity
    for (const entry of await list(app)) {
      if (stopped) return
      if (entry.refusal) tell(entry.id, { state: 'refused' })
      if (entry.refusal || blocked.has(entry.id)) continue
      const due = eager && !entry.bound ? 0 : entry.next
      const wait = due > Date.now() ? due : await send(entry)
      if (wait) next = Math.min(next, wait)
      if (wait > due || !navigator.onLine) break
    }
    clearTimeout(timer)
    if (next < Infinity && !stopped) timer = setTimeout(flush, Math.min(next - Date.now(), longest))
  }

  async function flush(eager = false): Promise<void> {
    if (eager) blocked.clear()
    if (running) {
      again ||= eager
      return
    }
    running = true
    await alone(() => round(eager)).catch(() => {})
    running = false
    const more = again
    again = undefined
    if (more !== undefined && !stopped) flush(more)
  }

  return {
    flush,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
