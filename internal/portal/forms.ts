/** Shows what went wrong in the place of what was shown before. */
export function complain(text: string, put: (alert: HTMLElement) => void): void {
  forget()
  const alert = document.createElement('p')
  alert.className = 'alert missed'
  alert.role = 'alert'
  alert.textContent = text
  put(alert)
  alert.scrollIntoView({ block: 'nearest' })
}

/** Removes what complain has shown. */
export function forget(): void {
  document.querySelector('.missed')?.remove()
}

/**
 * Moves the focus to a text of a form that is too long, and returns what is wrong. The service would not read a form
 * that is much too large.
 */
function excess(form: HTMLFormElement): string | undefined {
  for (const field of form.querySelectorAll<HTMLTextAreaElement>('textarea[data-most]')) {
    const count = [...field.value.trim()].length - Number(field.dataset['most'])
    field.ariaInvalid = String(count > 0)
    if (count <= 0) continue
    field.focus()
    return field.dataset['long']!.replace('{count}', String(count))
  }
  return
}

/**
 * Keeps a form from being sent twice by two taps, and from being lost when the browser is offline or a text is too
 * long: an error page would take the place of this one. The answer of the service loads another page.
 */
export function guardForms(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    const { failed, sent } = form.dataset
    if (event.defaultPrevented || failed === undefined) return
    forget()
    const problem = navigator.onLine ? excess(form) : failed
    const search = form.method === 'get'
    if (problem) complain(problem, (alert) => search ? form.after(alert) : form.prepend(alert))
    if (problem || sent !== undefined) event.preventDefault()
    else if (!search) form.dataset['sent'] = ''
  })
  addEventListener('pageshow', () => { // also when somebody comes back to the page
    for (const form of document.forms) delete form.dataset['sent']
  })
}
