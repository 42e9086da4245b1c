// The script of /mine, without which the page works for people who paste their link. It runs before
// the page is shown.
import { guardForms } from './forms'

const link = location.hash
const page = document.documentElement

/** Posts the link in the address, because browsers do not send the part after #. */
function send(): void {
  const form = document.createElement('form')
  const field = document.createElement('input')
  form.method = 'post'
  form.action = `mine${location.hash}` // the answer redirects, and the browser keeps the fragment
  field.name = 'link'
  field.value = location.hash
  form.append(field)
  page.append(form)
  page.className = 'opening'
  form.submit()
}

/** Keeps the link in the address, so that the page can be bookmarked at any time. */
function keep(): void {
  history.replaceState(null, '', location.href.replace(/[?&]sent=[^&#]*/, '')) // a bookmark says nothing of replies
  for (const a of document.querySelectorAll<HTMLAnchorElement>('a[href^=mine]')) {
    a.hash = link
    a.onclick = () => history.replaceState(null, '', '?') // otherwise a link to the same address would not load it
  }
  for (const form of document.forms) {
    form.addEventListener('submit', () => {
      const field = form.querySelector<HTMLInputElement>('#link')
      if (field) form.action = `mine#${field.value.match(/gsl_\w+/)?.[0] ?? ''}` // the link that the person has pasted
      else if (!('forget' in form.dataset)) form.action = `mine${link}`
      else history.replaceState(null, '', 'mine')
    })
  }
  // The service has accepted the link, but the browser has kept no cookie.
  if (isLink && !known && redirected) page.className = 'refused'
}

const isLink = link.startsWith('#gsl_')
const known = link.endsWith(page.dataset['check'] || ' ')
const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
const redirected = !!visit?.redirectCount
if (isLink && !known && !redirected && !('posted' in page.dataset)) send()
else document.addEventListener('DOMContentLoaded', keep)
addEventListener('hashchange', send) // another link
guardForms()
