/** What a browser keeps of a page: localStorage, or memory where it is not to be had. */
const memory = new Map<string, string>()

export function read<T>(name: string): T | undefined {
  const key = `gatherkit:${name}`
  let text = memory.get(key)
  try {
    text = localStorage.getItem(key) ?? text
  } catch {
    // The memory's word stands.
  }
  try {
    return JSON.parse(text!)
  } catch {
    return // nothing is there, or what somebody else wrote
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

/** Forgets the draft of an idea that the service has: the page may have ended before it could. */
export function forgetDraft(app: string, id: string): void {
  if (read<{ id?: string }>(`draft:${app}`)?.id == id) write(`draft:${app}`)
}

/** A random UUID; crypto.randomUUID is missing on pages without TLS. */
export function uuid(): string {
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => (crypto.getRandomValues(new Uint8Array(1))[0]! % 16).toString(16))
}

/** A random name of the browser, for votes: without a cookie, and of no use anywhere else. */
export function voter(): string {
  const known = read<string>('voter') ?? uuid()
  write('voter', known)
  return known
}
