/** Used instead of localStorage if the browser blocks it. */
const memory = new Map<string, string>()

export function read<T>(name: string): T | undefined {
  const key = `gatherkit:${name}`
  let text = memory.get(key)
  try {
    text = localStorage.getItem(key) ?? text
  } catch {
    // The value in memory applies.
  }
  try {
    return JSON.parse(text!)
  } catch {
    return // there is no value, or another script wrote it
  }
}

export function write(name: string, value?: unknown): void {
  const key = `gatherkit:${name}`
  const text = JSON.stringify(value)
  memory.delete(key)
  try {
    if (text) localStorage.setItem(key, text)
    else localStorage.removeItem(key)
  } catch {
    if (text) memory.set(key, text)
  }
}

/** Removes the draft of a sent idea. Its page may have been closed before it could do that. */
export function forgetDraft(app: string, id: string): void {
  if (read<{ id?: string }>(`draft:${app}`)?.id == id) write(`draft:${app}`)
}

/** A random UUID, because pages without TLS have no crypto.randomUUID. */
export function uuid(): string {
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => (crypto.getRandomValues(new Uint8Array(1))[0]! % 16).toString(16))
}

/** A random id of the browser, so that its votes count once. */
export function voter(): string {
  const known = read<string>('voter') ?? uuid()
  write('voter', known)
  return known
}
