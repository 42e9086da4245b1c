// Helpers for the tests of changes that wait.
import { Caller, email, logIn, openBrowser, submit, until } from './harness.mjs'

export const owner = await Caller.logIn()

// The e-mail of a second user.
export const grace = 'grace.hopper@example.com'
await owner.addUser('member', 'Grace Hopper')

// shop adds an app with requests, and opens its inbox. at moves the keyboard to a request, the newest
// being the first. calls are the changes that the page sends, as texts.
export async function shop(t, titles, { as = email, filter = '', clock = false } = {}) {
  const app = await owner.addApp('Shop')
  const ids = {}
  for (const title of titles.toReversed()) ids[title] = (await submit(app, { title, email: 'a@example.com' })).id
  const { context, complaints, quiet } = await openBrowser(t)
  if (clock) await context.clock.install()
  const page = await logIn(context, `/?app=${app.id}${filter}`, as)
  await row(page, titles[0]).waitFor()
  if (!clock) await quiet(page) // what opens without delay is loaded, also for a page that goes offline at once
  const calls = []
  page.on('request', (sent) => {
    const operation = sent.url().split('/api/')[1]
    if (/^requests-(update|bulk-update|delete|restore|merge|unmerge)$/.test(operation)) calls.push(`${operation} ${sent.postData()}`)
  })
  const at = async (title) => {
    await page.getByRole('listbox', { name: 'Requests' }).focus()
    await page.keyboard.press('Home')
    for (let n = titles.indexOf(title); n > 0; n--) await page.keyboard.press('j')
  }
  const now = async (title) => (await owner.call('requests-get', { id: ids[title] })).request
  return { app, ids, context, page, complaints, quiet, calls, at, now }
}

export const row = (page, title) => page.getByRole('option', { name: new RegExp(title) })
export const shows = (page, title, status) => until(async () => (await row(page, title).innerText()).includes(status))
export const waiting = (page, text) => page.getByRole('status').getByText(text, { exact: true }).waitFor()
export const nothingWaits = (page) => page.getByText(/changes? waiting/).waitFor({ state: 'detached' })
export const says = (page, text) => page.getByRole('region', { name: 'Notifications' }).getByText(text).first().waitFor()

const keys = { planned: '3', completed: '5', declined: '6' }
export async function setStatus(page, status) {
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press(keys[status])
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

// refuse answers calls of an operation as the service does while it cannot, until the returned
// function is called.
export async function refuse(context, operation, { status = 503, code = 'api.unavailable', headers = {} } = {}) {
  const json = { ok: false, error: { code, message: 'The service cannot do this now.' } }
  const url = `**/api/${operation}`
  await context.route(url, (route) => route.fulfill({ status, json, headers }))
  return () => context.unroute(url)
}

// lose lets the service make the next call of an operation, and loses its answer. Further calls do not
// arrive until the returned function is called, so that a test sees that the change waits.
export async function lose(context, operation) {
  const url = `**/api/${operation}`
  let made = false
  await context.route(url, async (route) => {
    const first = !made
    made = true
    if (first) await route.fetch()
    await route.abort('connectionreset')
  })
  return () => context.unroute(url)
}

export const events = async (id, kind) => {
  const { events } = await owner.call('requests-history', { request_id: id, limit: 200 })
  return events.filter((event) => event.kind === kind)
}
