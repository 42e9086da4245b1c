import { type Call, failure } from './api'
import type { Emit } from './events'
import { loadExtras, type Sender } from './parts'
import type { ErrorKind } from './public'
import { type Entry, list, put, remove } from './shelf'

/** What became of an idea. */
export type Outcome =
  | { state: 'progress'; file: number; part: number }
  | { state: 'sent' }
  | { state: 'waiting'; kind: ErrorKind }
  | { state: 'refused' }

export interface Outbox {
  /** Keeps an idea before it is sent, and tells whether it outlives the page. */
  add(entry: Entry): Promise<boolean>
  /** Sends what is due; eagerly also what only waits because a try has failed. */
  flush(eager?: boolean): void
  has(id: string): Promise<boolean>
  /** Takes out an idea that was refused. */
  takeRefused(): Promise<Entry | undefined>
  stop(): void
}

/** What the outbox needs of its surroundings. */
export interface Post {
  app: string
  base: string
  call: Call
  /** The token in whose name to send; `fresh` when the one before does not do any more. */
  token(entry: Entry, fresh: boolean): Promise<string | undefined>
  /** Tells what became of an idea, whichever tab it was sent by. */
  tell(id: string, outcome: Outcome): void
  emit: Emit
  failed(error: unknown, id: string): void
}

const most = { entries: 50, bytes: 60e6 }

/**
 * Does something in one tab at a time. Pages without TLS have no locks, and sandboxed
 * frames may not use them; there too the idempotency key sees to it that nothing is
 * stored twice.
 */
async function alone<T>(name: string, work: () => Promise<T>): Promise<T> {
  let begun: Promise<T> | undefined
  const once = (): Promise<T> => (begun ??= work())
  await navigator.locks?.request(name, once).catch(() => {})
  return once()
}

export function openOutbox(post: Post): Outbox {
  const { app, base } = post
  const name = `gatherkit-outbox:${app}`
  const channel = new BroadcastChannel(name)
  let sender: Sender | undefined
  let stopped = false

  channel.onmessage = ({ data: [id, outcome] }) => post.tell(id, outcome)

  function tell(id: string, outcome: Outcome): void {
    post.tell(id, outcome)
    if (!stopped) channel.postMessage([id, outcome])
  }

  /** What sends is loaded when there is something to send. */
  async function flush(eager = false): Promise<void> {
    const entries = await list(app)
    if (!entries.length || stopped) return
    try {
      const { createSender } = await loadExtras(base)
      if (stopped) return
      sender ??= createSender({ ...post, tell, failure, list, put, remove, alone: (work) => alone(name, work) })
      sender.flush(eager)
    } catch {
      const reason = failure(0)
      const { kind } = reason
      for (const { id } of entries) {
        post.failed(reason, id)
        tell(id, { state: 'waiting', kind })
      }
      if (kind == 'server') setTimeout(flush, 30_000)
    }
  }

  return {
    async add(entry) {
      const others = await list(app)
      const bytes = [...others, entry].flatMap(({ files }) => files).reduce((sum, { blob }) => sum + blob.size, 0)
      if (others.length >= most.entries || bytes > most.bytes) throw Error('The outbox is full.')
      return put(entry)
    },
    flush,
    has: async (id) => (await list(app)).some((entry) => entry.id == id),
    takeRefused: () => alone(`${name}:refused`, async () => {
      const refused = (await list(app)).find((entry) => entry.refusal)
      if (refused) await remove(refused.id)
      return refused
    }),
    stop() {
      stopped = true
      sender?.stop()
      channel.close()
    },
  }
}
