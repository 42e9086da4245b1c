import type { ErrorKind } from './public'

/** Why a call did not do what it should. `wait` is what Retry-After asks for, in seconds. */
export class Failure extends Error {
  constructor(readonly kind: ErrorKind, readonly code: string, message: string, readonly wait = 0) {
    super(message)
  }
}

/** Calls an operation of the service with the app's key. */
export type Call = <T>(operation: string, params: object, signal?: AbortSignal) => Promise<T>

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
  return new Failure(kind, code, message, Number(retryAfter) || 0)
}

async function answer(url: string, init: RequestInit): Promise<{ response: Response; body: any }> {
  try {
    const response = await fetch(url, { ...init, credentials: 'omit', signal: init.signal ?? AbortSignal.timeout(patience) })
    // A body that ends early is no answer; one that is no JSON is not the service's.
    const text = await response.text()
    try {
      return { response, body: JSON.parse(text) }
    } catch {
      return { response, body: {} }
    }
  } catch {
    throw failure(0)
  }
}

export async function get<T>(url: string): Promise<T> {
  const { response, body } = await answer(url, {})
  if (response.ok && body.app_id) return body
  throw failure(response.status, body.error, response.headers.get('Retry-After'))
}

export function caller(base: string, key: string): Call {
  return async (operation, params, signal) => {
    const { response, body } = await answer(`${base}api/${operation}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: JSON.stringify(params),
      signal,
    })
    if (body.ok && body.result) return body.result
    throw failure(response.status, body.error, response.headers.get('Retry-After'))
  }
}
