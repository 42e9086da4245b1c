import type { Entry } from './entries'
import { read, write } from './storage'

/** What is known about the ideas of an app that are not sent yet. */
export interface Unsent {
  /** How many ideas of the outbox could not be sent so far. */
  count: number
  /** Whether the service has refused one of them. */
  refused?: boolean
  /** Ideas that the outbox takes over when its script has loaded. */
  waiting: Entry[]
}

/** A note that all tabs share. While there is none, the outbox is empty, so that its script need not load. */
export interface Note {
  /** Whether there is a note. */
  made(): boolean
  get(): Unsent
  /** Changes the note, or removes it, and returns whether that survives the page. */
  set(changes?: Partial<Unsent>): boolean
}

export function createNote(app: string, changed: () => void): Note {
  const name = `unsent:${app}`
  const get = () => read<Unsent>(name) ?? { count: 0, waiting: [] }
  return {
    made: () => !!read(name),
    get,
    set(changes) {
      const kept = write(name, changes && { ...get(), ...changes })
      changed()
      return kept
    },
  }
}
