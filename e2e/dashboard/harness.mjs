// Helpers for the tests of the dashboard. URL is the address of the service. EMAIL and PASSWORD
// belong to its owner. SCREENSHOTS is an optional folder for screenshots.
import assert from 'node:assert/strict'
import http from 'node:http'
import path from 'node:path'
import { after, before } from 'node:test'
import { asUser, faults, launch, newContext, post, proof, quietly, resultOf, some, soon } from '../browser.mjs'

export const { URL: service, EMAIL: email, PASSWORD: password, SCREENSHOTS: screenshots } = process.env

let browser

before(async () => {
  browser = await launch()
})
after(() => browser.close())

// as returns a function that calls operations with a credential and returns their results.
const as = (credential) => async (operation, params) => resultOf(operation, await post(service, operation, params, credential))

// Caller calls the service as a user.
export class Caller {
  #call

  // Without a call, it calls the service without a credential.
  constructor(call = as()) {
    this.#call = call
  }

  static async logIn(user = email, secret = password) {
    return new Caller(await asUser(service, user, secret))
  }

  static withToken(token) {
    return new Caller(as({ Authorization: `Bearer ${token}` }))
  }

  call(operation, params = {}) {
    return this.#call(operation, params)
  }

  async addApp(name, settings) {
    const { app } = await this.call('apps-create', { name })
    if (settings) await this.call('apps-update-settings', { id: app.id, settings })
    return app
  }

  // addUser adds a user with a role and the tests' password.
  async addUser(role, name = role) {
    const { link } = await this.call('users-invite', { email: `${name.toLowerCase().replaceAll(' ', '.')}@example.com`, name, role })
    const { user } = await this.call('auth-accept-invite', { token: link.split('#')[1], password })
    return user
  }
}

// submit sends a request like an app's widget.
export async function submit(app, params) {
  const result = await as({ 'X-API-Key': app.api_key })('widget-submit-request', { description: 'That would help.', ...params })
  return result.request ?? result
}

// openBrowser creates a browser context, whose pages share a session. complaints collects errors of
// all pages, which must stay empty. quiet waits until a page has no requests under way. All sections of a request and the
// filters are open, unless folded is true.
export async function openBrowser(t, { at = service, folded, ...options } = {}) {
  const context = await newContext(t, browser, { baseURL: at, reducedMotion: 'reduce', viewport: { width: 1280, height: 800 }, ...options })
  // A route that stays: without one, Chromium misses a call that a page makes just after the first route.
  await context.route('**/no-such-path', (route) => route.continue())
  if (!folded) {
    await context.addInitScript(() => {
      try {
        localStorage['gatherkit.settings'] ??= '{"facets":true,"unfolded":["Similar requests","Issues","History"]}'
      } catch {
        // The page has no storage.
      }
    })
  }
  const complaints = []
  context.on('weberror', (error) => complaints.push(`error: ${error.error().message}`))
  context.on('console', (message) => {
    // Chromium logs every call that fails, including the expected ones, such as a refresh without a
    // session.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text())
  })
  return { context, complaints, quiet: quietly(context) }
}

// logIn opens a page and logs in there.
export async function logIn(context, address = '/', as = email, secret = password) {
  const page = await context.newPage()
  await page.goto(address)
  await page.getByLabel('E-mail').fill(as)
  await page.getByLabel('Password').fill(secret)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  return page
}

// The rules of axe: also those for good practice, and those that are off by default. The last one
// guesses that bold paragraphs are headings.
const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice', 'experimental']
const rules = { 'p-as-heading': { enabled: false } }

const looked = new Set()

// look checks a page with axe and makes screenshots. The name ends in the width, if the page is checked at several.
// In proof, axe checks it in both color schemes and at every width, and otherwise once.
export async function look(page, name) {
  const view = name.replace(/-(\d+|narrow)$/, '')
  const again = looked.has(view)
  looked.add(view)
  for (const colorScheme of some(['light', 'dark'], 1)) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}-${colorScheme}.png`) })
    // React Aria's announcer is excluded, because it refers to a button for some seconds after the
    // button was removed; and tooltips, because they are in no landmark.
    if (proof || !again) {
      const found = await faults(page, { dark: colorScheme === 'dark', exclude: '[data-live-announcer], :has(> [role=tooltip])', preload: false, runOnly, rules })
      assert.deepEqual(found, [], `${name}, ${colorScheme}`)
    }
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    assert.equal(sideways, 0, `${name} scrolls sideways`)
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: 'reduce' })
}

// openRelay starts a proxy in front of the service. While relay.cut is true, it closes connections.
// relay.calls lists the paths called. relay.most says, by path, how many calls were under way at once.
export async function openRelay(t) {
  const relay = { cut: false, calls: [], most: {} }
  const now = {}
  const server = http.createServer((request, response) => {
    const { url } = request
    relay.calls.push(url)
    if (relay.cut) return request.socket.destroy()
    now[url] = (now[url] ?? 0) + 1
    relay.most[url] = Math.max(relay.most[url] ?? 0, now[url])
    const onward = http.request(service + url, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.on('end', () => now[url]--) // before the caller gets the end
      answer.pipe(response)
    })
    onward.on('error', () => (now[url]--, request.socket.destroy()))
    request.pipe(onward)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => (server.closeAllConnections(), server.close()))
  relay.url = `http://127.0.0.1:${server.address().port}`
  return relay
}

// until waits until holds returns true.
export const until = (holds) => soon(String(holds), holds)
