// The script of a portal's pages, which work without it: a vote does not load the page again, the board is searched and
// similar ideas appear while somebody types, and keys lead through lists.
import { complain, forget, guardForms } from './forms'

document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement
  const button = event.submitter
  if (!(button instanceof HTMLButtonElement) || form.id !== 'ballot' || 'plain' in button.dataset) return
  event.preventDefault()
  if (button.ariaDisabled) return // the vote before is on its way
  const body = new URLSearchParams([...new FormData(form, button)] as [string, string][])
  const details = document.querySelector<HTMLTextAreaElement>('.send textarea')?.value
  if (details) body.set('why', [body.get('why'), details].join(' ')) // which would be lost, as the idea is not sent
  turn(button)
  button.ariaDisabled = 'true'
  forget()
  fetch(form.action, { method: 'POST', body, redirect: 'manual', keepalive: true })
    .then((answer) => answer.type === 'opaqueredirect', () => undefined)
    .then((counted) => {
      button.ariaDisabled = null
      if (counted) return thank(button)
      turn(button)
      if (counted === undefined) return complain(form.dataset['missed'] ?? '', (alert) => beside(button, alert))
      button.dataset['plain'] = '' // sends it as without this script, and shows the page that says what is wrong
      form.requestSubmit(button)
    })
})

/** Puts an alert beside the idea of a button. */
function beside(button: HTMLButtonElement, alert: HTMLElement): void {
  const idea = button.closest('.idea')?.lastElementChild
  if (idea) idea.append(alert)
  else document.querySelector('.one .body')?.prepend(alert)
}

/** Says above similar ideas that a vote is enough. */
function thank(button: HTMLButtonElement): void {
  const hint = button.closest('.similar')?.querySelector<HTMLElement>('.hint')
  const text = hint?.closest<HTMLElement>('.similar')?.dataset['counted']
  if (!hint || !text) return
  hint.dataset['text'] ??= hint.textContent
  hint.textContent = button.name === 'remove' ? text : hint.dataset['text']
}

/** Shows the vote as given, or as taken back. */
function turn(button: HTMLButtonElement): void {
  const voted = button.name === 'add'
  const count = button.lastElementChild as HTMLElement
  count.textContent = String(Number(count.textContent) + (voted ? 1 : -1))
  button.name = voted ? 'remove' : 'add'
  button.ariaPressed = String(voted)
}

/** Reads a page while something is typed, and shows a part of it. The page is undefined if the service was not reached. */
function whileTyping(field: HTMLInputElement, address: () => string, show: (page: Document | undefined, address: string) => void): void {
  const request = new XMLHttpRequest() // reads a page without HTML in texts, which the policy of the page forbids
  let pause = 0
  field.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(() => {
      const wanted = address()
      request.onload = () => request.response && show(request.response as Document, wanted)
      request.onerror = () => show(undefined, wanted)
      request.open('GET', wanted) // ends the one before
      request.responseType = 'document'
      request.send()
    }, 200)
  })
}

/** Puts parts of another page in the places of those of this page. */
function take(page: Document, ...parts: string[]): void {
  for (const part of parts) {
    const found = page.querySelector(part)
    if (found) document.querySelector(part)?.replaceWith(found)
  }
}

/** Scrolls filters, which are rows on phones, to what is chosen. */
function reveal(): void {
  for (const choice of document.querySelectorAll('.filter [aria-current]')) {
    const row = choice.closest('ul')!
    const [at, all] = [choice.getBoundingClientRect(), row.getBoundingClientRect()]
    row.scrollBy(at.left + at.width / 2 - all.left - all.width / 2, 0)
  }
}

const title = document.querySelector<HTMLInputElement>('.send [name=title]')
const similar = document.querySelector('.similar')
const said = similar?.querySelector('[role=status]')
if (title?.form && similar && said) {
  const { action } = title.form
  const address = () => action + (title.value && '?title=' + encodeURIComponent(title.value))
  whileTyping(title, address, (page, at) => {
    history.replaceState(null, '', at) // for who comes back from a similar idea: browsers do not restore the title
    const found = page?.querySelector('.similar')
    const says = found?.querySelector('[role=status]')
    if (!page || !found || !says || similar.contains(document.activeElement)) return // the page may say what is wrong
    if (says.textContent !== said.textContent) said.replaceChildren(...says.childNodes) // is read out only when it changes
    similar.querySelector('.ideas')?.remove()
    similar.append(...found.querySelectorAll('.ideas'))
    take(page, '#ballot')
  })
}

const search = document.querySelector<HTMLFormElement>('form.search')
const box = search?.querySelector<HTMLInputElement>('[name=q]')
reveal()
if (search && box) {
  const counted = search.querySelector('[role=status]')
  const address = () => search.action + '?' + new URLSearchParams(new FormData(search) as unknown as Record<string, string>)
  whileTyping(box, address, (page, at) => {
    if (!page?.querySelector('.found')) return complain(search.dataset['failed'] ?? '', (alert) => search.after(alert))
    forget()
    const idea = document.activeElement?.closest('.found .idea')?.id
    document.title = page.title
    take(page, '.found', '.filter', '.filter.tags', '.top .primary', '#ballot')
    if (idea) (document.querySelector<HTMLElement>(`#${idea} a`) ?? box).focus()
    reveal()
    if (counted) counted.textContent = document.querySelector('.sum .total')?.textContent ?? ''
    history.replaceState(null, '', at)
  })
  if (location.hash === '#q') {
    box.focus()
    history.replaceState(null, '', location.pathname + location.search) // so that a reload leaves the focus alone
  }
}

const keys = document.querySelector<HTMLDialogElement>('dialog.keys')
const used = keys?.querySelector('input')
if (keys && used) {
  const stored = 'gatherkit-portal-keys'
  try {
    used.checked = localStorage.getItem(stored) !== 'off'
  } catch {
    // The browser stores nothing.
  }
  used.addEventListener('change', () => {
    try {
      localStorage.setItem(stored, used.checked ? 'on' : 'off')
    } catch {
      // It holds for this page.
    }
  })
  const show = () => keys.showModal()
  document.querySelector('footer .keys')?.addEventListener('click', show)
  keys.querySelector('button')?.addEventListener('click', () => keys.close())
  const move = (step: number) => {
    const titles = [...document.querySelectorAll<HTMLElement>('.idea :is(h2, h3) a')]
    const here = document.activeElement?.closest('.idea')
    const place = titles.findIndex((one) => here?.contains(one))
    titles[place < 0 && step < 0 ? titles.length - 1 : place + step]?.focus()
  }
  const vote = () => {
    const idea = document.activeElement?.closest('.idea') ?? document.querySelector('.one')
    idea?.querySelector<HTMLElement>(':is(button, a).vote')?.click()
  }
  const seek = () => {
    if (box) box.focus()
    else if (!written()) location.href = document.querySelector<HTMLAnchorElement>('a.app')?.href + '#q'
  }
  const written = () => [...document.querySelectorAll('textarea')].some((field) => field.value !== field.defaultValue) || title?.value
  const acts: Record<string, () => void> = { j: () => move(1), k: () => move(-1), v: vote, '/': seek, '?': show }
  // Where a layout has no Latin letters, the physical key decides: о on a Russian layout is j.
  const physical: Record<string, string> = { KeyJ: 'j', KeyK: 'k', KeyV: 'v', Slash: '/' }
  document.addEventListener('keydown', (event) => {
    const typing = (event.target as Element).closest('input, textarea, dialog')
    const { key, code, shiftKey } = event
    const latin = /[\x00-\xff\p{Script=Latin}]/u.test(key) || event.getModifierState('AltGraph')
    const act = acts[key] ?? (latin ? undefined : acts[shiftKey && code === 'Slash' ? '?' : physical[code] ?? ''])
    if (!act || !used.checked || typing || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    event.preventDefault()
    act()
  })
}

guardForms()
