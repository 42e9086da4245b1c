import { type Entry, list, type Outcome, put, remove } from './entries'
import { createSender } from './sender'
import type { OutboxTools } from './tools'

/** The ideas that the browser keeps until the service has stored them. */
export interface Outbox {
  /** Saves an idea before it is sent, and returns whether it survives the page. */
  add(entry: Entry): Promise<boolean>
  /** Sends what is due. If eager, also retries ideas that failed. */
  flush(eager: boolean): Promise<void>
  has(id: string): Promise<boolean>
  /** Removes and returns an idea that was refused. */
  refused(): Promise<Entry | undefined>
  /** Handles the outcome of an idea that another tab reports. */
  hear(id: string, outcome: Outcome): void
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
  const { app, note, channel } = tools
  const name = `gatherkit-outbox:${app}`
  const sender = createSender({ ...tools, tell, list, put, remove, alone: (work) => alone(name, work) })
  const ready = take()
  let stopped = false

  /** Takes over the ideas from before this script had loaded. */
  async function take(): Promise<void> {
    await alone(`${name}:take`, async () => {
      const { waiting } = note.get()
      if (!waiting[0]) return
      const left = []
      for (const entry of waiting) {
        entry.tries = 0 // it was never sent
        if (!(await put(entry))) left.push(entry) // the note survives the page
      }
      const isNew = ({ id }: Entry) => waiting.every((other) => other.id != id)
      note.set({ waiting: [...left, ...note.get().waiting.filter(isNew)] })
    })
    await count()
  }

  async function count(): Promise<void> {
    const entries = await list(app)
    const { waiting } = note.get()
    const count = entries.length + waiting.filter(({ tries }) => tries).length
    if (entries[0] || waiting[0]) note.set({ count, refused: entries.some(({ refusal }) => refusal) })
    else note.set()
  }

  function hear(id: string, outcome: Outcome): void {
    const { state } = outcome
    const { waiting } = note.get()
    if (state == 'sent' && waiting[0]) note.set({ waiting: waiting.filter((entry) => entry.id != id) })
    tools.tell(id, outcome)
    if (state != 'progress') count()
  }

  function tell(id: string, outcome: Outcome): void {
    hear(id, outcome)
    if (!stopped) channel.postMessage([id, outcome])
  }

  return {
    async add(entry) {
      await ready
      const others = await list(app)
      const files = new Blob([...others, entry].flatMap(({ files }) => files.map(({ blob }) => blob)))
      if (others.length >= most.entries || files.size > most.bytes) throw Error()
      note.set({})
      const durable = await put(entry)
      return note.set({}) && durable // another tab may have found the outbox empty meanwhile
    },
    async flush(eager) {
      await ready
      if (!stopped) sender.flush(eager)
    },
    async has(id) {
      await ready
      return (await list(app)).some((entry) => entry.id == id)
    },
    async refused() {
      await ready
      return alone(`${name}:refused`, async () => {
        const refused = (await list(app)).find((entry) => entry.refusal)
        if (refused) {
          // Files move to memory, because Firefox can no longer read those of a removed entry.
          for (const kept of refused.files) kept.blob = new Blob([await kept.blob.arrayBuffer().catch(() => kept.blob)])
          await remove(refused.id)
          count()
        }
        return refused
      })
    },
    hear,
    stop() {
      stopped = true
      sender.stop()
    },
  }
}
