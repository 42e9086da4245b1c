/**
 * Where ideas lie until the service has them: IndexedDB, or memory when a browser
 * does not let us have that or its place is full.
 */
import type { ErrorKind } from './public'

/** A file of an idea; `upload` is its id once the service has its bytes. */
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
  /** What is sent, but for the files and the identity. */
  fields: Record<string, unknown>
  files: Kept[]
  at: number
  tries: number
  /** Not before this time; `bound` when the service has asked for that. */
  next: number
  bound?: boolean
  /** Whether it is sent in the name of a person for whom a token vouches. */
  signed?: boolean
  token?: string
  /** Why the service does not take it: it waits for the form then. */
  refusal?: { code: string; message: string }
}

/** What became of an idea. */
export type Outcome =
  | { state: 'progress'; file: number; part: number }
  | { state: 'sent' }
  | { state: 'waiting'; kind: ErrorKind }
  | { state: 'refused' }

const memory = new Map<string, Entry>()

/** Runs one transaction on a connection of its own, and resolves when it is on the disk. */
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
        reject(error) // what the entry holds cannot be kept there
      }
      db.close() // when the transaction has ended
    }
  })
}

/** All entries of an app, the least tried and oldest first. */
export async function list(app: string): Promise<Entry[]> {
  const stored: Entry[] = await transact('readonly', (on) => on.getAll()).catch(() => [])
  return [...stored, ...memory.values()].filter((entry) => entry.app == app).sort((a, b) => a.tries - b.tries || a.at - b.at)
}

/** Keeps an entry and tells whether it outlives the page. */
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
