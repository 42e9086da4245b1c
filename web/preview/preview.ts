// The page in which the dashboard shows the real widget with unsaved settings. It answers the
// widget's calls itself: nothing is sent, and the policy of the page allows no connections.
import type { Config } from '../widget/src/config'
import type { Theme } from '../widget/src/public'

/** The message of the dashboard. */
interface State {
  widget: Config['widget']
  sharing: string
  theme: Theme
  /** Whether to open the form. Otherwise, it stays open or closed. */
  open: boolean
}

const uploads = {
  max_size: 10 << 20,
  max_count: 5,
  content_types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf', 'text/plain'],
}
const similar = [
  { id: 'a', title: 'A similar idea', status: 'planned', votes: 12 },
  { id: 'b', title: 'Another similar idea', status: 'under_review', votes: 5 },
]
const strings = {
  sent_heading: 'This is a preview',
  sent_text: 'Nothing was sent. On your site, the request would now be in your inbox.',
  again: 'Back to the form',
  memory_text: '',
}

let state: State
let boots = 0

const results: Record<string, (params: Record<string, unknown>) => unknown> = {
  'widget-submit-request': ({ title, description }) => ({
    request: { id: 'preview', title, description, status: 'opened', votes: 1, created_at: new Date().toISOString() },
  }),
  'widget-similar-requests': () => ({ requests: similar }),
  'widget-vote': ({ request_id, remove }) => ({
    voted: !remove,
    votes: (similar.find(({ id }) => id === request_id)?.votes ?? 0) + (remove ? 0 : 1),
  }),
  // Files are uploaded to an empty data: URL.
  'widget-create-upload': () => ({ upload: { id: 'preview', url: 'data:,', method: 'GET', headers: {} } }),
}

/** Answers as the service would, but before the next frame, so that nothing flickers. */
function answer(url: string, params: string): string {
  const operation = new URL(url, location.href).pathname.split('/').at(-1)!
  if (operation.endsWith('.json')) {
    const { widget, sharing } = state
    return JSON.stringify({ app_id: 'preview', widget, sharing, uploads, latest_entry: null } satisfies Config)
  }
  return JSON.stringify({ ok: true, result: results[operation]?.(JSON.parse(params)) })
}

window.fetch = async (url, init) => {
  const text = answer(String(url), String(init?.body))
  return { status: 200, headers: new Headers(), text: async () => text } as Response
}

const shadowRoot = (): ShadowRoot | null | undefined => document.querySelector('gatherkit-widget')?.shadowRoot

/** Restarts the widget, which reads its settings only at the start. A new key avoids its cached settings. */
function restart(): void {
  const gatherkit = window.Gatherkit!
  const shown = shadowRoot()?.querySelector('dialog')?.open
  document.documentElement.style.colorScheme = state.theme === 'auto' ? '' : state.theme
  gatherkit('destroy')
  // A form that was open stays open, without the animation.
  if (shown) gatherkit('on', 'open', () => shadowRoot()?.getAnimations().forEach((animation) => animation.finish()))
  gatherkit('boot', { key: `preview-${++boots}`, locale: 'en', theme: 'auto', strings })
  if (shown || state.open) gatherkit('open')
}

// A form that opens while the user works in the dashboard must not take the focus. Chromium also
// warns about an autofocus that it blocks.
const { setAttribute } = Element.prototype
Element.prototype.setAttribute = function (name, value) {
  if (name !== 'autofocus' || document.hasFocus()) setAttribute.call(this, name, value)
}
const { showModal } = HTMLDialogElement.prototype
HTMLDialogElement.prototype.showModal = function () {
  this.inert = !document.hasFocus()
  showModal.call(this)
  this.inert = false
}

addEventListener('message', ({ source, origin, data }: MessageEvent<State>) => {
  // The page is sandboxed, so its own origin is opaque. The dashboard has the origin of its address.
  if (source !== parent || origin !== location.origin) return
  state = data
  restart()
})
parent.postMessage('ready', location.origin)
