/**
 * The storage of the outbox: IndexedDB, or memory if the browser blocks IndexedDB or its
 * space is full.
 */
import type { ErrorKind } from './public'

/** A file of an idea. `upload` is the id of the finished upload. */
export interface Kept {
  name: string
  type: string
  blob: Blob
  upload?: string
}

export interface Entry {
  /** The idempotency key. */
  id: string
  app: string
  /** The parameters, without the files and the identity. */
  fields: Record<string, unknown>
  files: Kept[]
  at: number
  tries: number
  /** The time of the next try. `bound` is set if the service asked for it. */
  next: number
  bound?: boolean
  /** Whether it is sent with an identity token. */
  signed?: boolean
  token?: string
  /** Why the service refused it, or one of its files. It waits until the form takes it back. */
  refusal?: { code: string; message: string; file?: string }
}

/** The outcome of a try to send an idea. */
export type Outcome =
  | { state: 'progress'; file: number; part: number }
  | { state: 'sent' }
  | { state: 'waiting'; kind: Exclude<ErrorKind, 'refused' | 'key'> }
  | { state: 'refused' }

const memory = new Map<string, Entry>()

/** Runs a transaction on its own connection, and resolves when it is on disk. */
function transact<T>(mode: IDBTransactionMode, work: (on: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('gatherkit', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('outbox', { keyPath: 'id' })
    opening.onerror = reject
    opening.onsuccess = () => {
      const db = opening.result
      try {
        const transaction = db.transaction('outbox', mode, { durability: 'strict' })
        const request = work(transaction.objectStore('outbox'))
        transaction.oncomplete = () => resolve(request.result)
        transaction.onabort = reject
      } catch (error) {
        reject(error) // the entry cannot be stored
      }
      db.close() // takes effect after the transaction
    }
  })
}

/** All entries of an app, those with the fewest tries first, then the oldest. */
export async function list(app: string): Promise<Entry[]> {
  const stored: Entry[] = await transact('readonly', (on) => on.getAll()).catch(() => [])
  return [...stored, ...memory.values()].filter((entry) => entry.app == app).sort((a, b) => a.tries - b.tries || a.at - b.at)
}

/** Stores an entry, and returns whether it survives the page. */
export async function put(entry: Entry): Promise<boolean> {
  try {
    await transact('readwrite', (on) => on.put(entry))
    return memory.delete(entry.id), true
  } catch {
    memory.set(entry.id, entry)
    return false
  }
}

export async function remove(id: string): Promise<void> {
  memory.delete(id)
  await transact('readwrite', (on) => on.delete(id)).catch(() => {})
}
