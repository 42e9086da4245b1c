// The page that the dashboard frames to show the real widget with settings that nobody has
// saved yet. It stands in for the service, whose answers it gives itself: nothing that is
// written here is sent, and the page's policy lets it connect to nothing.
import type { Config } from '../widget/src/config'
import type { Theme } from '../widget/src/public'

/** What the dashboard says. */
interface Look {
  widget: Config['widget']
  sharing: string
  theme: Theme
  /** Whether to open the form; otherwise it stays as it is. */
  open: boolean
}

const uploads = {
  max_size: 10 << 20,
  max_count: 5,
  content_types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf', 'text/plain'],
}
const similar = [
  { id: 'a', title: 'An idea that somebody had before', status: 'planned', votes: 12 },
  { id: 'b', title: 'Another one', status: 'under_review', votes: 5 },
]
const strings = {
  sent_heading: 'Just a preview',
  sent_text: 'Nothing was sent. On your pages, the idea would be in your inbox now.',
  again: 'Back to the form',
  memory_text: '',
}

let look: Look
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
  // The bytes of a file go to an address that is none.
  'widget-create-upload': () => ({ upload: { id: 'preview', url: 'data:,', method: 'GET', headers: {} } }),
}

/** What the service would answer. It is there before the next frame is painted, so that nothing flickers. */
function answer(url: string, params: string): string {
  const operation = new URL(url, location.href).pathname.split('/').at(-1)!
  if (operation.endsWith('.json')) {
    return JSON.stringify({ app_id: 'preview', widget: look.widget, sharing: look.sharing, uploads } satisfies Config)
  }
  return JSON.stringify({ ok: true, result: results[operation]?.(JSON.parse(params)) })
}

window.fetch = async (url, init) => {
  const text = answer(String(url), String(init?.body))
  return { status: 200, headers: new Headers(), text: async () => text } as Response
}

const inside = (): ShadowRoot | null | undefined => document.querySelector('gatherkit-widget')?.shadowRoot

/** Boots the widget anew, as it asks for its settings only then; under another key, as it remembers them. */
function dress(): void {
  const gatherkit = window.Gatherkit!
  const shown = inside()?.querySelector('dialog')?.open
  document.documentElement.style.colorScheme = look.theme === 'auto' ? '' : look.theme
  gatherkit('destroy')
  // What was open stays so, and does not come in again.
  if (shown) gatherkit('on', 'open', () => inside()?.getAnimations().forEach((animation) => animation.finish()))
  gatherkit('boot', { key: `preview-${++boots}`, locale: 'en', theme: 'page', strings })
  if (shown || look.open) gatherkit('open')
}

// A form that opens while somebody works in the dashboard leaves the focus where it is. Of
// an autofocus that it may not have, Chromium would even complain.
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

addEventListener('message', ({ source, origin, data }: MessageEvent<Look>) => {
  // The dashboard has the origin of this page's address; the page itself has none, as it is sandboxed.
  if (source !== parent || origin !== location.origin) return
  look = data
  dress()
})
parent.postMessage('ready', location.origin)
