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

/** Stores a value, or removes it. It returns whether the change survives the page. */
export function write(name: string, value?: unknown): boolean {
  const key = `gatherkit:${name}`
  const text = JSON.stringify(value)
  memory.delete(key)
  try {
    if (text) localStorage.setItem(key, text)
    else localStorage.removeItem(key)
    return true
  } catch {
    if (text) memory.set(key, text)
    return false
  }
}

/** Removes the draft of a sent idea. Its page may have been closed before it could do that. */
export function forgetDraft(app: string, id: string): void {
  if (read<{ id?: string }>(`draft:${app}`)?.id == id) write(`draft:${app}`)
}

/** A secret of 64 hexadecimal digits: 12 of the time in milliseconds, so that the service stores new ones together, and 52 random ones. */
export function secret(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return [...crypto.getRandomValues(new Uint8Array(52))].reduce((text, byte) => text + (byte % 16).toString(16), time)
}

/** A UUID of version 7. Pages without TLS have no crypto.randomUUID. */
export function uuid(): string {
  return secret().replace(/(.{8})(.{4})(...)(...)(.{12}).*/, '$1-$2-7$3-8$4-$5')
}

/** Returns the value with this name, which is made when it is first needed. make can return undefined to make none. */
export function keep<T extends string | undefined>(name: string, make: () => T): string | T {
  const known = read<string>(name) ?? make()
  write(name, known)
  return known
}
