// The script of a portal's pages, which work without it: a vote does not load the page again, and ideas that are
// similar to a new one appear while its title is typed.
document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement
  const button = event.submitter
  if (!(button instanceof HTMLButtonElement) || form.className !== 'vote' || 'plain' in form.dataset) return
  event.preventDefault()
  if (button.ariaDisabled) return // the vote before is on its way
  const body = new URLSearchParams([...new FormData(form, button)] as [string, string][])
  turn(button)
  button.ariaDisabled = 'true'
  fetch(form.action, { method: 'POST', body, redirect: 'manual', keepalive: true })
    .then((answer) => answer.type === 'opaqueredirect', () => false)
    .then((counted) => {
      button.ariaDisabled = null
      if (counted) return
      turn(button)
      form.dataset['plain'] = '' // sends it as without this script, and shows the page that says what is wrong
      form.requestSubmit(button)
    })
})

/** Shows the vote as given, or as taken back. */
function turn(button: HTMLButtonElement): void {
  const voted = button.value === 'add'
  const count = button.lastElementChild as HTMLElement
  count.textContent = String(Number(count.textContent) + (voted ? 1 : -1))
  button.value = voted ? 'remove' : 'add'
  button.ariaPressed = String(voted)
}

const title = document.querySelector<HTMLInputElement>('.send [name=title]')
const similar = document.querySelector('.similar')
const said = similar?.querySelector('[role=status]')
if (title?.form && similar && said) {
  const page = title.form.action
  const request = new XMLHttpRequest() // reads a page without HTML in texts, which the policy of the page forbids
  request.onload = () => {
    const found = (request.response as Document | null)?.querySelector('.similar')
    const says = found?.querySelector('[role=status]')
    if (!found || !says || similar.contains(document.activeElement)) return // the page may say what is wrong
    if (says.textContent !== said.textContent) said.replaceChildren(...says.childNodes) // is read out only when it changes
    similar.querySelector('.ideas')?.remove()
    similar.append(...found.querySelectorAll('.ideas'))
  }
  let pause = 0
  title.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(() => {
      request.open('GET', page + '?title=' + encodeURIComponent(title.value)) // ends the one before
      request.responseType = 'document'
      request.send()
    }, 300)
  })
}

export {} // so that its names are its own
