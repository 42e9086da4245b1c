// Helpers for the tests of the widget: a browser, a customer's site with its own origin, and a relay
// in front of the service that can cause faults. URL is the address of the service. EMAIL and
// PASSWORD belong to its owner. SCREENSHOTS is an optional folder for screenshots.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import http from 'node:http'
import path from 'node:path'
import { after, before } from 'node:test'
import { asUser, faults, launch, newContext, post, quietly, resultOf, some, soon } from '../browser.mjs'

export { soon }

const { URL: service, EMAIL: email, PASSWORD: password, SCREENSHOTS: screenshots } = process.env

let browser
let asOwner

before(async () => {
  browser = await launch()
  asOwner = await asUser(service, email, password)
})

after(() => browser.close())

// call calls an operation as the owner and returns the result.
export const call = (operation, params) => asOwner(operation, params)

// answer calls an operation with the API key of an app and returns the whole answer.
export const answer = ({ key }, operation, params) => post(service, operation, params, { 'X-API-Key': key })

// visitor calls an operation with the API key of an app and returns the result.
export async function visitor(app, operation, params) {
  return resultOf(operation, await answer(app, operation, params))
}

// addApp creates an app with settings.
export async function addApp({ widget = {}, ...settings } = {}) {
  const { app } = await call('apps-create', { name: 'Shop' })
  await call('apps-update-settings', { id: app.id, settings: { widget, ...settings } })
  return { id: app.id, key: app.api_key }
}

// stored returns the requests of an app, the oldest first.
export async function stored(app, filter = {}) {
  return (await call('requests-list', { app_id: app.id, sort: 'oldest', limit: 200, ...filter })).requests
}

// identityToken returns an identity token as a customer's backend would sign it.
export async function identityToken(app, claims) {
  const { secret } = await call('apps-identity-secret', { id: app.id })
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ exp: Math.floor(Date.now() / 1000) + 600, ...claims })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

const listen = (server) => new Promise((resolve) => {
  server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`))
})

async function serve(t, handler) {
  const server = http.createServer(handler)
  const address = await listen(server)
  t.after(() => new Promise((resolve) => {
    server.close(resolve)
    server.closeAllConnections()
  }))
  return address
}

// startRelay starts a relay that passes calls on to the service and records them in calls. It adds
// five seconds to the time in which forms were filled in, because the service treats fast ones as
// spam. It prevents the caching of the app's settings. `fault` is called first, if it is set. It
// returns a status or an object {status, code, message, headers} to answer instead of the service,
// 'lose' to lose the service's answer, 'cut' to lose the call, or undefined.
async function startRelay(t) {
  const relay = { calls: [], fault: undefined, wait: 0 }
  relay.url = await serve(t, async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const operation = request.url.match(/^\/api\/([\w-]+)/)?.[1]
    const params = operation && request.method === 'POST' ? JSON.parse(body) : undefined
    if (params) relay.calls.push({ operation, params, key: request.headers['x-api-key'] })
    const { url, method } = request
    const wrong = method === 'OPTIONS' ? undefined : await relay.fault?.({ operation, params, url, method, body })
    if (relay.wait && request.method !== 'OPTIONS') await new Promise((resolve) => setTimeout(resolve, relay.wait))
    // The answer begins, because otherwise browsers may repeat the call by themselves.
    const breakOff = () => {
      response.writeHead(200, { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'application/json', 'Content-Length': 100 })
      response.write('{"ok":', () => request.socket.destroy())
    }
    if (wrong === 'cut') return breakOff()
    if (wrong && wrong !== 'lose') {
      const { status, code, message, headers } = typeof wrong === 'number' ? { status: wrong } : wrong
      const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' }
      response.writeHead(status, { ...cors, 'Content-Type': code ? 'application/json' : 'text/html', ...headers })
      return response.end(code ? JSON.stringify({ ok: false, error: { code, message } }) : '<h1>Trouble</h1>')
    }
    const { host, connection, 'content-length': _, ...headers } = request.headers
    const onwardBody = params?.form ? JSON.stringify({ ...params, form: { ...params.form, seconds: params.form.seconds + 5 } }) : body
    const onward = http.request(service + request.url, { method: request.method, headers }, (answer) => {
      if (wrong === 'lose') {
        answer.resume()
        return answer.on('end', breakOff)
      }
      const config = request.url.startsWith('/widget/config/')
      response.writeHead(answer.statusCode, config ? { ...answer.headers, 'cache-control': 'no-store' } : answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => request.socket.destroy())
    onward.end(onwardBody)
  })
  relay.count = (operation) => relay.calls.filter((one) => one.operation === operation).length
  return relay
}

// gate returns a promise, opened, that resolves when open is called.
export function gate() {
  let open
  const opened = new Promise((resolve) => (open = resolve))
  return { open, opened }
}

// policy is the strictest content security policy under which the widget works.
export const policy = (relay) => [
  "default-src 'none'", `script-src ${relay.url}`, `connect-src ${relay.url}`, "require-trusted-types-for 'script'", "trusted-types 'none'",
].join('; ')

// tag is the script tag that customers put into their pages.
export const tag = (relay, app, attributes = '') =>
  `<script async src="${relay.url}/widget.js" data-key="${app.key}" ${attributes}></script>`

// start starts a customer's site and opens a browser context. pages maps paths to HTML, or to
// {html, headers}. complaints collects messages and errors, and must stay empty unless quiet is
// false. idle waits until a tab has no requests under way.
export async function start(t, { options = {}, quiet = true } = {}) {
  const relay = await startRelay(t)
  const pages = {}
  const site = await serve(t, (request, response) => {
    const { pathname } = new URL(request.url, 'http://site')
    const page = pathname === '/favicon.ico' ? { html: '', type: 'image/x-icon' } : pages[pathname]
    const { html, headers = {}, type = 'text/html; charset=utf-8' } = typeof page === 'string' ? { html: page } : page ?? { html: '' }
    response.writeHead(page ? 200 : 404, { 'Content-Type': type, ...headers })
    response.end(html)
  })
  const context = await newContext(t, browser, { viewport: { width: 1000, height: 760 }, reducedMotion: 'reduce', ...options })
  const idle = quietly(context)
  await context.addInitScript(() => {
    window.recorded = []
    for (const name of ['ready', 'open', 'close', 'queued', 'submit', 'vote', 'news', 'error']) {
      addEventListener(`gatherkit:${name}`, ({ detail }) => window.recorded.push([name, detail]))
    }
    window.shifts = 0
    // Layout shifts inside the widget do not count.
    const ofPage = ({ node }) => node?.getRootNode() === document && node.localName !== 'gatherkit-widget'
    new PerformanceObserver((list) => list.getEntries().forEach(({ value, sources }) => {
      if (sources.some(ofPage)) window.shifts += value
    })).observe({ type: 'layout-shift', buffered: true })
  })
  const complaints = []
  async function visit(address, tab) {
    tab ??= await context.newPage()
    if (quiet) {
      // React marks its work in Firefox's profiler with timeStamp.
      tab.on('console', (message) => message.type() === 'timeStamp' || complaints.push(`console: ${message.text()}`))
      tab.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
    }
    await tab.goto(site + address)
    return tab
  }
  return { relay, pages, site, context, complaints, idle, visit }
}

// kept returns the ideas in the outbox.
export const kept = (tab) => tab.evaluate(() => new Promise((resolve, reject) => {
  const opening = indexedDB.open('gatherkit', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('outbox', { keyPath: 'id' })
  opening.onerror = () => reject(opening.error)
  opening.onsuccess = () => {
    const request = opening.result.transaction('outbox').objectStore('outbox').getAll()
    request.onsuccess = () => {
      opening.result.close()
      resolve(request.result.map(({ files, ...entry }) => ({ ...entry, files: files.length })))
    }
  }
}))

// document returns the HTML of a page.
export const document = (body, { lang = 'en', head = '' } = {}) =>
  `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Shop</title>` +
  `<meta name="viewport" content="width=device-width, initial-scale=1">${head}</head>` +
  `<body><main><h1>A shop</h1><p>What it sells.</p></main>${body}</body></html>`

// recorded returns the widget's events on a page, with their details: those with the given names, or
// all.
export const recorded = (tab, ...names) => tab.evaluate(
  (names) => window.recorded.filter(([name]) => !names.length || names.includes(name)), names)

// widget returns the parts of a widget that tests use.
export function widget(tab, number = 0) {
  const host = tab.locator('gatherkit-widget').nth(number)
  const part = (selector, options) => host.locator(selector, options)
  const it = {
    host,
    launcher: part('.launcher'),
    dialog: part('dialog'),
    title: part('#title'),
    description: part('#description'),
    email: part('#email'),
    send: part('.form .primary'),
    alert: part('.alert'),
    result: part('.result'),
    sent: part('.result.sent'),
    waiting: part('.result.waiting'),
    again: part('.result .primary'),
    close: part('.bar .icon'),
    mark: part('.mark'),
    file: part('input[type=file]'),
    files: part('.files li'),
    vote: part('.vote'),
    turn: part('.turn:not([hidden])'), // between the form and the person's own ideas
    ideas: part('.list > ul > li'),
    reply: part('.list textarea'),
    part,
    async open() {
      await it.launcher.click()
      await it.dialog.waitFor()
    },
    async submit(title, description = '') {
      await it.title.fill(title)
      await it.description.fill(description)
      await it.send.click()
    },
  }
  return it
}

export const minutes = 60_000

// onCall returns a fault of the relay for one operation.
export const onCall = (name, fault) => ({ operation }) => (operation === name ? fault() : undefined)

// shop starts a site with the widget of a new app.
export async function shop(t, { settings, options, attributes = '', permissions = [] } = {}) {
  const app = await addApp({ ...settings, widget: { button_text: 'Ideas', ...settings?.widget } })
  const made = await start(t, { options: { permissions, ...options } })
  made.pages['/'] = document(tag(made.relay, app, attributes))
  // enter opens the page with a clock that a test can move ahead.
  const enter = async () => {
    const tab = await made.context.newPage()
    await tab.clock.install()
    await made.visit('/', tab)
    await widget(tab).launcher.waitFor()
    return tab
  }
  return { app, enter, ...made }
}

// named waits until the launcher has a name, as screen readers get it.
export const named = (tab, name) => tab.getByRole('button', { name, exact: true }).waitFor()

// looks are how every state is looked at: names, options of the browser, and attributes of the script tag.
export const looks = some([
  ['320', { viewport: { width: 320, height: 640 }, hasTouch: true }, ''],
  ['arabic', {}, 'data-locale="ar"'],
  ['light', {}, ''],
  ['dark', { colorScheme: 'dark' }, ''],
  ['german', { viewport: { width: 320, height: 640 } }, 'data-locale="de"'],
  ['forced', { forcedColors: 'active' }, ''],
], 1)

// extra are rules of axe that are off by default. Those that are on include its best practices.
const extra = ['label-content-name-mismatch', 'target-size', 'focus-order-semantics', 'p-as-heading']
const rules = Object.fromEntries(extra.map((rule) => [rule, { enabled: true }]))

// check checks a page with axe and makes a screenshot.
export async function check(tab, name) {
  if (screenshots) await tab.screenshot({ path: path.join(screenshots, `widget-${name}.png`) })
  assert.deepEqual(await faults(tab, { rules }), [], name)
  const sideways = await tab.evaluate(() => window.document.documentElement.scrollWidth - window.document.documentElement.clientWidth)
  assert.equal(sideways, 0, `${name}: the page scrolls sideways`)
}
