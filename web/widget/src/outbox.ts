import { failure } from './api'
import { load } from './load'
import type { Sender } from './sender'
import { type Entry, list, type Outcome, put, remove } from './entries'
import type { OutboxTools } from './tools'

export interface Outbox {
  /** Saves an idea before it is sent, and returns whether it survives the page. */
  add(entry: Entry): Promise<boolean>
  /** Sends what is due. If eager, also retries ideas that failed. */
  flush(eager?: boolean): void
  has(id: string): Promise<boolean>
  /** Removes and returns an idea that was refused. */
  refused(): Promise<Entry | undefined>
  stop(): void
}

const most = { entries: 50, bytes: 60e6 }

/**
 * Runs work in one tab at a time. Pages without TLS and sandboxed frames have no locks;
 * there, only the idempotency key prevents duplicates.
 */
async function alone<T>(name: string, work: () => Promise<T>): Promise<T> {
  let begun: Promise<T> | undefined
  const once = (): Promise<T> => (begun ??= work())
  await navigator.locks?.request(name, once).catch(() => {})
  return once()
}

export function openOutbox(tools: OutboxTools): Outbox {
  const { app, base } = tools
  const name = `gatherkit-outbox:${app}`
  const channel = new BroadcastChannel(name)
  let sender: Sender | undefined
  let stopped = false

  channel.onmessage = ({ data }) => hear(...(data as Parameters<typeof hear>))
  count()

  async function count(): Promise<void> {
    tools.left(await list(app))
  }

  function hear(id: string, outcome: Outcome): void {
    tools.tell(id, outcome)
    if (outcome.state != 'progress') count()
  }

  function tell(id: string, outcome: Outcome): void {
    hear(id, outcome)
    if (!stopped) channel.postMessage([id, outcome])
  }

  /** Loads the sender only when there is something to send. */
  async function flush(eager = false): Promise<void> {
    const entries = await list(app)
    if (!entries.length || stopped) return
    const script = await load(base, 'extras')
    if (stopped) return
    if (script) {
      sender ??= script.createSender({ ...tools, tell, failure, list, put, remove, alone: (work) => alone(name, work) })
      return sender.flush(eager)
    }
    const reason = failure(0)
    const kind = reason.kind as 'offline' | 'server'
    for (const { id } of entries) {
      tools.failed(reason, id)
      tell(id, { state: 'waiting', kind })
    }
    if (kind == 'server') setTimeout(flush, 30_000)
  }

  return {
    async add(entry) {
      const others = await list(app)
      const files = new Blob([...others, entry].flatMap(({ files }) => files.map(({ blob }) => blob)))
      if (others.length >= most.entries || files.size > most.bytes) throw Error()
      return put(entry)
    },
    flush,
    has: async (id) => (await list(app)).some((entry) => entry.id == id),
    refused: () => alone(`${name}:refused`, async () => {
      const refused = (await list(app)).find((entry) => entry.refusal)
      if (refused) {
        // Files move to memory, because Firefox can no longer read those of a removed entry.
        for (const kept of refused.files) kept.blob = new Blob([await kept.blob.arrayBuffer().catch(() => kept.blob)])
        await remove(refused.id)
        count()
      }
      return refused
    }),
    stop() {
      stopped = true
      sender?.stop()
      channel.close()
    },
  }
}
