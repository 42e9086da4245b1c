/** How long after the panel has closed its key is released, in milliseconds. */
const released = 300

/**
 * Hides from the page what happens in the open panel, because dialogs of pages watch the whole document
 * and take back focus, keys and clicks. The panel gets a copy of each event, which does not leave it. What
 * the browser does by itself, such as typing, stays the same. It ends when the panel closes.
 */
export function shield(dialog: HTMLDialogElement): void {
  if (!dialog.open) return // closed while the script was loading
  const { activeElement, host } = dialog.getRootNode() as ShadowRoot
  const ended = new AbortController()
  const { signal } = ended

  function take(event: Event & Partial<ClipboardEvent & DragEvent & KeyboardEvent>): void {
    const { type, key, ctrlKey, metaKey, clipboardData, dataTransfer } = event
    const path = event.composedPath() as Element[]
    const inside = path.includes(dialog)
    // The focus comes to the panel, or leaves it. The key that has closed the panel is released on the page.
    if (inside || event.relatedTarget == host || type == 'keyup' && !dialog.open) event.stopImmediatePropagation()
    if (!inside) return
    const copy = Object.assign(new Event(type, { bubbles: true, cancelable: true }), { key, ctrlKey, metaKey, clipboardData, dataTransfer })
    // Another click would untick a box again.
    const target = type == 'click' && path[0] != dialog ? path[0]!.closest('button') : path[0]
    if (target?.dispatchEvent(copy) == false) event.preventDefault()
  }

  // A page that shows a dialog may have hidden or disabled everything else, and may have taken the focus.
  for (const name of ['inert', 'aria-hidden']) host.removeAttribute(name)
  if (!activeElement) dialog.querySelector<HTMLElement>('[autofocus]')?.focus()
  dialog.addEventListener('close', () => setTimeout(() => ended.abort(), released), { once: true })
  const names = ['onfocusin', 'onfocusout']
  for (const name in dialog) if (name.startsWith('on')) names.push(name)
  for (const name of names) addEventListener(name.slice(2), take, { signal, capture: true })
}
