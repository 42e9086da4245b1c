import type { ErrorKind } from './public'

/** Why a call did not do what it should. `wait` is what Retry-After asks for, in seconds. */
export interface Failure {
  kind: ErrorKind
  code: string
  message: string
  wait: number
}

/** Calls an operation of the service with the app's key. */
export type Call = <T>(operation: string, params: object) => Promise<T>

const patience = 30_000

/**
 * What an answer means that is no success; status 0 says that none came. Only the
 * service's own words are final: proxies have others.
 */
export function failure(status: number, error?: { code: string; message: string }, retryAfter?: string | null): Failure {
  let kind: ErrorKind = status || navigator.onLine ? 'server' : 'offline'
  const { code = status ? `http_${status}` : kind, message = 'There is no answer from the service.' } = error ?? {}
  if (status == 401) kind = code.startsWith('auth.') ? 'key' : code.startsWith('widget.') ? 'identity' : 'server'
  else if (error && status < 500 && status != 408 && status != 429) kind = 'refused'
  return { kind, code, message, wait: Number(retryAfter) || 0 }
}

/** What a call answers; it is the service's only if it has what we look for. */
export async function answer<T>(url: string, part: string, init: RequestInit = {}): Promise<T> {
  let status = 0
  let wait
  let body
  try {
    const response = await fetch(url, { ...init, credentials: 'omit', signal: AbortSignal.timeout(patience) })
    wait = response.headers.get('Retry-After')
    const text = await response.text() // one that ends early is no answer
    status = response.status
    body = JSON.parse(text)
  } catch {
    // What there is of it tells.
  }
  if (status == 200 && body?.[part]) return part == 'result' ? body.result : body
  throw failure(status, body?.error, wait)
}

export function caller(base: string, key: string): Call {
  return (operation, params) => answer(`${base}api/${operation}`, 'result', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify(params),
  })
}
