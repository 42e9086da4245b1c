import type { ErrorKind } from './public'

/** Why a call failed. `wait` is the value of Retry-After. */
export interface Failure {
  kind: ErrorKind
  code: string
  message: string
  wait?: string | null
}

/** Calls an operation of the service with the app's key. */
export type Call = <T>(operation: string, params: object) => Promise<T>

const timeout = 30_000

/**
 * The failure of a call; status 0 means that there was no answer. Only errors of the
 * service itself are final, because proxies answer with other errors.
 */
export function failure(status: number, error?: { code: string; message: string }, wait?: string | null): Failure {
  let kind: ErrorKind = status || navigator.onLine ? 'server' : 'offline'
  const { code = status ? `http_${status}` : kind, message = 'No answer.' } = error ?? {}
  if (status == 401) kind = code.startsWith('auth.') ? 'key' : code.startsWith('widget.') ? 'identity' : 'server'
  else if (error && status < 500 && status != 408 && status != 429) kind = 'refused'
  return { kind, code, message, wait }
}

/** Reads an answer. It comes from the service only if it has the expected part. */
export async function answer<T>(url: string, part: string, init: RequestInit = {}): Promise<T> {
  let status = 0
  let wait
  let body
  try {
    const response = await fetch(url, { credentials: 'omit', signal: AbortSignal.timeout(timeout), ...init })
    wait = response.headers.get('Retry-After')
    const text = await response.text() // throws if the answer is incomplete
    status = response.status
    body = JSON.parse(text)
  } catch {
    // The check below decides.
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
