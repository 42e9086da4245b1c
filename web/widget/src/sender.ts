import type { Failure } from './api'
import { upload } from './attachments'
import type { ErrorKind, SubmittedRequest } from './public'
import type { Entry } from './shelf'
import type { SenderTools } from './tools'

/** Longer ago the service may have forgotten the idempotency key, which it keeps for 30 days. */
const oldest = 29 * 24 * 3600_000

/** How long it sleeps at most: clocks are set, and timers have their limits. */
const longest = 600_000

/** What is refused here, before the service is asked. */
const refusal = (kind: ErrorKind, code: string): Partial<Failure> => ({ kind, code })

/** How long to wait after that many failures: from 2 s to 5 min, by chance half of it or half more. */
export function backoff(tries: number, chance = Math.random()): number {
  return Math.min(2000 * 2 ** (tries - 1), 300_000) * (0.5 + chance)
}

export interface Sender {
  /** Sends what is due; eagerly also what only waits because a try has failed. */
  flush(eager: boolean): void
  stop(): void
}

/** Sends what the outbox holds, an idea at a time and in one tab at a time. */
export function createSender(tools: SenderTools): Sender {
  const { app, call, token, tell, emit, failed, list, put, remove, alone } = tools
  /** Ideas that wait for something that only the page can change. */
  const held = new Set<string>()
  let timer = 0
  let stopped = false
  let running = false
  let again: boolean | undefined

  async function submit(entry: Entry, fresh = false): Promise<SubmittedRequest> {
    const { id, files, fields, signed } = entry
    const identity_token = signed ? await token(entry, fresh) : undefined
    if (signed && !identity_token) throw refusal('identity', 'widget.identity_expired')
    let old = 0
    for (const [file, kept] of files.entries()) {
      if (kept.upload) {
        old++
        continue
      }
      kept.upload = await upload(tools, kept, (part) => tools.tell(id, { state: 'progress', file, part }))
      await put(entry)
    }
    try {
      const attachments = files.length ? files.map((kept) => kept.upload) : undefined
      return (
        await call<{ request: SubmittedRequest }>('widget-submit-request', { ...fields, idempotency_key: id, identity_token, attachments })
      ).request
    } catch (error) {
      const { kind, code } = error as Failure
      if (kind == 'identity' && !fresh) return submit(entry, true)
      if (code == 'widget.invalid_attachments' && old) {
        // They lay too long, and are removed: the service does not know the idea yet.
        for (const kept of files) delete kept.upload
      } else if (code == 'widget.invalid_metadata' && fields.metadata) {
        // No person can mend what the page has added.
        failed(error, id)
        delete fields.metadata
      } else {
        throw error
      }
      await put(entry)
      return submit(entry, fresh)
    }
  }

  /** Sends one idea, and returns when to go on if that was not possible. */
  async function send(entry: Entry): Promise<number> {
    const { id } = entry
    try {
      if (entry.at < Date.now() - oldest) throw refusal('refused', 'too_old')
      const request = await submit(entry)
      await remove(id)
      emit('submit', { id, request }) // in the tab that has sent it
      tell(id, { state: 'sent' })
      return 0
    } catch (error) {
      // Whatever else it is, it is no reason to lose an idea.
      const { kind = 'server', code = 'unexpected', message = '', wait = 0 } = error as Partial<Failure>
      if (kind == 'refused') entry.refusal = { code, message }
      if (kind == 'identity' || kind == 'key') held.add(id)
      if (kind == 'server') {
        entry.bound = wait > 0
        entry.next = Date.now() + Math.max(wait * 1000, backoff(++entry.tries))
      }
      await put(entry)
      failed({ kind, code, message }, id)
      tell(id, kind == 'refused' ? { state: kind } : { state: 'waiting', kind })
      return kind == 'server' ? entry.next : 0
    }
  }

  /** Sends what is due. One failure ends the round, for the next would fail alike. */
  async function round(eager: boolean): Promise<void> {
    let next = Infinity
    for (const entry of await list(app)) {
      if (stopped) return
      if (entry.refusal) tell(entry.id, { state: 'refused' })
      if (entry.refusal || held.has(entry.id)) continue
      const due = eager && !entry.bound ? 0 : entry.next
      const wait = due > Date.now() ? due : await send(entry)
      if (wait) next = Math.min(next, wait)
      if (wait > due || !navigator.onLine) break
    }
    clearTimeout(timer)
    if (next < Infinity && !stopped) timer = setTimeout(flush, Math.min(next - Date.now(), longest))
  }

  async function flush(eager = false): Promise<void> {
    if (eager) held.clear()
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
