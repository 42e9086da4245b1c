/**
 * Keeps a form from being sent twice by two taps, and from being lost when the browser is offline: its error page
 * would take the place of this one. The answer of the service loads another page.
 */
export function guardForms(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    const { failed, sent } = form.dataset
    if (event.defaultPrevented || failed === undefined) return
    form.querySelector('.missed')?.remove()
    if (!navigator.onLine) {
      const alert = document.createElement('p')
      alert.className = 'alert missed'
      alert.role = 'alert'
      alert.textContent = failed
      form.prepend(alert)
    }
    if (sent !== undefined || !navigator.onLine) event.preventDefault()
    else form.dataset['sent'] = ''
  })
  addEventListener('pageshow', () => { // also when somebody comes back to the page
    for (const form of document.forms) delete form.dataset['sent']
  })
}
