// The demo page. A list shows the requests that the widget sends, and a form changes the app's
// settings with the API, as the dashboard does.
import type { GatherkitFunction, Settings, Theme } from '../widget/src/public'

interface WidgetSettings {
  primary_color: string
  position: string
  button_text: string
  show_email_field: boolean
  require_email: boolean
  allow_file_uploads: boolean
}
interface AppSettings {
  widget: WidgetSettings
  sharing: string
  portal: { access: string }
}
interface Attachment {
  filename: string
  size: number
  url: string
}
interface FeatureRequest {
  id: string
  title: string
  description: string
  status: string
  votes: number
  created_at: string
  submitter: { email: string | null; name: string | null; verified: boolean }
  attachments: Attachment[]
}

const shown = 8
const { app = '', key = '', email = '' } = document.body.dataset
// The fragment of a link is not sent to the service.
const password = document.body.dataset.password || location.hash.slice(1)
const form = byID('settings') as HTMLFormElement
let token = ''

function byID(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`The page has no ${id}.`)
  return found
}

function make(name: string, text: string, of?: HTMLElement): HTMLElement {
  const made = document.createElement(name)
  made.textContent = text
  of?.append(made)
  return made
}

function widget(): GatherkitFunction {
  // Calls wait in a queue until the script has loaded.
  if (!window.Gatherkit) {
    const waiting: GatherkitFunction = (...call: unknown[]) => void ((waiting.q ??= []) as unknown[]).push(call)
    window.Gatherkit = waiting
  }
  return window.Gatherkit
}

/** Calls an operation as the owner of the demo, and logs in again if the token has expired.
 *  The login also sets the cookie of the dashboard. */
async function call<T>(operation: string, body: object, again = true): Promise<T> {
  if (!password) throw new Error('To see the requests and the dashboard, open the link that the demo printed when it started.')
  if (!token && operation !== 'auth-login') {
    token = (await call<{ access_token: string }>('auth-login', { email, password })).access_token
  }
  const response = await fetch(`api/${operation}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Token-Transport': 'cookie', ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { ok: true; result: T } | { ok: false; error: { code: string; message: string } }
  if (answer.ok) return answer.result
  if (response.status === 401 && again && operation !== 'auth-login') {
    token = ''
    return call(operation, body, false)
  }
  throw new Error(answer.error.message)
}

/** Runs work and shows its error, if there is one. */
async function attempt(work: () => Promise<void>): Promise<void> {
  const line = byID('error')
  try {
    await work()
    line.textContent = ''
  } catch (error) {
    line.textContent =
      error instanceof TypeError
        ? 'The service does not answer. The widget keeps your ideas until it does.'
        : String(error instanceof Error ? error.message : error)
  }
}

let known: Set<string> | undefined

async function list(): Promise<void> {
  const result = await call<{ requests: FeatureRequest[]; total_count: number }>('requests-list', { app_id: app, limit: shown })
  byID('total').textContent = String(result.total_count)
  const ids = result.requests.map((r) => r.id)
  if (known && ids.every((id) => known?.has(id)) && known.size === ids.length) return
  byID('arrived').replaceChildren(...result.requests.map(item))
  known = new Set(ids)
}

function item(r: FeatureRequest): HTMLElement {
  const li = document.createElement('li')
  if (known && !known.has(r.id)) li.className = 'new'
  make('b', r.title, li)
  if (r.description) make('p', r.description, li)
  const facts = make('p', '', li)
  facts.className = 'facts'
  const who = r.submitter.name ?? r.submitter.email
  for (const fact of [
    new Date(r.created_at).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }),
    r.status.replaceAll('_', ' '),
    r.votes === 1 ? '1 vote' : `${r.votes} votes`,
    who ? `by ${who}${r.submitter.verified ? ', verified' : ''}` : '',
  ]) {
    if (fact) make('span', fact, facts)
  }
  for (const file of r.attachments) {
    const link = make('a', `${file.filename} (${Math.ceil(file.size / 1024)} KiB)`, facts) as HTMLAnchorElement
    link.href = file.url
  }
  return li
}

interface Delivery {
  id: string
  kind: string
  summary: string
  title: string
  at: string
}

let newest: string | undefined

/** Shows what the webhook of the demo has delivered to the demo itself. */
async function listDeliveries(): Promise<void> {
  const { deliveries } = (await (await fetch('demo/webhook')).json()) as { deliveries: Delivery[] }
  if (!deliveries[0] || deliveries[0].id === newest) return
  const seen = deliveries.findIndex(({ id }) => id === newest)
  byID('nothing').hidden = true
  byID('delivered').replaceChildren(
    ...deliveries.slice(0, shown).map(({ kind, summary, title, at }, place) => {
      const li = document.createElement('li')
      if (newest && (seen < 0 || place < seen)) li.className = 'new'
      make('b', summary, li)
      if (title) make('p', title, li)
      const facts = make('p', '', li)
      facts.className = 'facts'
      make('code', kind, facts)
      make('span', new Date(at).toLocaleTimeString(), facts)
      make('span', 'Signature verified', facts)
      return li
    }),
  )
  newest = deliveries[0].id
}

function field(name: string): HTMLInputElement | HTMLSelectElement {
  return form.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement
}

function checked(name: string): boolean {
  return (field(name) as HTMLInputElement).checked
}

function fill({ widget, sharing }: AppSettings): void {
  for (const name of ['primary_color', 'position', 'button_text'] as const) field(name).value = widget[name]
  field('email').value = widget.require_email ? 'required' : widget.show_email_field ? 'shown' : 'hidden'
  field('sharing').value = sharing
  ;(field('allow_file_uploads') as HTMLInputElement).checked = widget.allow_file_uploads
}

function wanted(): AppSettings {
  const asked = field('email').value
  return {
    widget: {
      primary_color: field('primary_color').value,
      position: field('position').value,
      button_text: field('button_text').value,
      show_email_field: asked !== 'hidden',
      require_email: asked === 'required',
      allow_file_uploads: checked('allow_file_uploads'),
    },
    sharing: field('sharing').value,
    portal: { access: field('sharing').value === 'none' ? 'off' : 'public' }, // which shows what the app shares
  }
}

/** Saves the app's settings, and restarts the widget with them. */
async function save(): Promise<void> {
  if (!form.reportValidity()) return
  await call('apps-update-settings', { id: app, settings: wanted() })
  await fetch(`widget/config/${key}.json`, { cache: 'reload' }) // browsers cache it for a minute
  widget()('destroy', { key })
  boot()
}

function boot(): void {
  widget()('boot', { key, ...page() })
  if (checked('verified')) widget()('identify', { getToken: identityToken }, { key })
}

function page(): Settings {
  return { locale: field('locale').value, theme: field('theme').value as Theme, metadata: { page: 'demo' } }
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Signs a token for Ada. A real product does this in its backend: the secret must never be in a page. */
async function identityToken(): Promise<string> {
  const { secret } = await call<{ secret: string }>('apps-identity-secret', { id: app })
  const text = new TextEncoder()
  const claims = { sub: 'ada', email: 'ada@example.com', name: 'Ada Lovelace', exp: Math.floor(Date.now() / 1000) + 600 }
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => base64url(text.encode(JSON.stringify(part)))).join('.')
  const signer = await crypto.subtle.importKey('raw', text.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return `${signed}.${base64url(new Uint8Array(await crypto.subtle.sign('HMAC', signer, text.encode(signed))))}`
}

function snippet(): string {
  return `<script async src="${new URL('widget.js', location.href).href}" data-key="${key}"></script>`
}

form.addEventListener('submit', (event) => event.preventDefault())
form.addEventListener('change', (event) => {
  const name = (event.target as HTMLInputElement).name
  if (name === 'locale' || name === 'theme') widget()('set', page(), { key })
  else if (name === 'verified') widget()('identify', checked('verified') ? { getToken: identityToken } : undefined, { key })
  else void attempt(save)
})
addEventListener('hashchange', () => location.reload()) // to a link with the password
byID('open').addEventListener('click', () => widget()('open', { key }))
byID('copy').addEventListener('click', () => void attempt(() => navigator.clipboard.writeText(snippet())))
byID('snippet').textContent = snippet()
widget()('on', 'submit', () => void attempt(list))
void attempt(async () => {
  const { app: now } = await call<{ app: { settings: AppSettings } }>('apps-get', { id: app })
  fill(now.settings)
  await list()
})
// If the service does not answer, attempt(list) says so.
const refresh = (): void => void listDeliveries().catch(() => undefined)
refresh()
setInterval(() => void attempt(list), 3000)
setInterval(refresh, 1000)
