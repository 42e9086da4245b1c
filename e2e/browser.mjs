// Helpers for all browser tests. CHROMIUM is the path of the browser, or FIREFOX.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'
import { launchFirefox } from './firefox.mjs'

const { CHROMIUM, FIREFOX, PROOF } = process.env

// proof is whether the tests are part of "make proof". inProof are the options of a test that is only part of it,
// because it takes long. some returns all of a list there, and its first n otherwise.
export const proof = Boolean(PROOF)
export const inProof = PROOF ? {} : { skip: 'this test is part of make proof' }
export const some = (list, n) => PROOF ? list : list.slice(0, n)

// patience is how long a test waits for something, in milliseconds. It is much longer than a busy
// machine needs, so that tests fail only if something does not happen, not if it is late.
export const patience = Number(process.env.PATIENCE ?? 600_000)

// launch starts a browser without background network traffic.
export async function launch() {
  const browser = FIREFOX ? await launchFirefox(patience) : await chromium.launch({
    executablePath: CHROMIUM,
    timeout: patience,
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
    ],
  })
  browser.on('context', (context) => context.setDefaultTimeout(patience))
  return browser
}

// newContext returns a context of a browser that ends with the test. If the test fails, it prints what the pages show.
// A page may call the service until then, so handlers of routes may still run, and what they throw is no failure.
export async function newContext(t, browser, options) {
  const context = await browser.newContext(options)
  t.after(async () => {
    if (!t.passed) for (const page of context.pages()) console.log(await shown(page))
    for (const routed of [...context.pages(), context]) await routed.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  })
  return context
}

// shown returns the address of a page and what a screen reader finds there.
async function shown(page) {
  const state = await page.evaluate(() => (navigator.onLine ? 'online' : 'offline')).catch(String)
  return `${page.url()}, ${state}:\n${await page.locator(':root').ariaSnapshot({ timeout: 10_000 }).catch(String)}`
}

// soon waits until holds returns true. `every` is the pause between checks, in milliseconds.
export async function soon(what, holds, every = 50) {
  const end = Date.now() + patience
  while (!(await holds())) {
    assert.ok(Date.now() < end, `this never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, every))
  }
}

// post calls an operation and returns the whole answer. credential is a header with an API key or a
// token. Like every client, it repeats a call that the service cannot take now.
export async function post(service, operation, params, credential = {}) {
  for (const end = Date.now() + patience; ;) {
    const headers = { 'Content-Type': 'application/json', ...credential }
    const response = await fetch(`${service}/api/${operation}`, { method: 'POST', headers, body: JSON.stringify(params) })
    const answer = await response.json()
    if (answer.error?.code !== 'api.unavailable' || Date.now() > end) return answer
    await new Promise((resolve) => setTimeout(resolve, response.headers.get('Retry-After') * 1000))
  }
}

// resultOf returns the result of an answer. The test fails if it is an error.
export function resultOf(operation, { ok, result, error }) {
  assert.ok(ok, `${operation}: ${error?.code}: ${error?.message}`)
  return result
}

// asUser logs in and returns a function that calls operations and returns their results. It logs in again
// when the token has expired, because a busy machine may take longer than a token lasts.
export async function asUser(service, email, password) {
  const logIn = async () => {
    const { access_token: token } = resultOf('auth-login', await post(service, 'auth-login', { email, password }))
    return { Authorization: `Bearer ${token}` }
  }
  let credential = await logIn()
  return async (operation, params) => {
    let answer = await post(service, operation, params, credential)
    if (answer.error?.code === 'auth.token_expired') {
      credential = await logIn()
      answer = await post(service, operation, params, credential)
    }
    return resultOf(operation, answer)
  }
}

// linger moves a page's clock three seconds ahead, because the service treats forms that are
// filled in faster as spam.
export async function linger(page) {
  await page.evaluate(() => {
    const now = performance.now.bind(performance)
    performance.now = () => now() + 3000
  })
}

// quietly returns a function that waits until a page of the context has no requests under way,
// and starts none after it has rendered the last answer. Waiting for events does not count.
export function quietly(context) {
  const asked = new Map()
  context.on('page', (page) => {
    const open = new Set()
    asked.set(page, open)
    page.on('request', (request) => request.url().endsWith('/events-list') || open.add(request))
    for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => open.delete(request))
  })
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))
  return (page) => soon('the page has no requests under way', async () => {
    const open = asked.get(page)
    if (open.size) return false
    await page.evaluate(drawn)
    return open.size === 0
  }, 10)
}

// colors are the rules that depend on colors. The others give the same result in light and dark.
const colors = ['color-contrast', 'link-in-text-block']

// axe returns the script of axe-core, which many files of tests do not need.
const axe = () => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// faults returns what axe finds on a page and in its frames. With dark, it checks only the rules that depend on
// colors. It runs axe in the page, because @axe-core/playwright loads it again for each check, which took three
// times as long. In Firefox it checks nothing, because axe sometimes crashes Firefox's processes for pages.
export async function faults(page, { dark = false, exclude, ...options } = {}) {
  if (FIREFOX) return []
  for (const frame of page.frames()) {
    if (await frame.evaluate(() => 'axe' in window)) continue
    await frame.evaluate(`${axe()}; axe.configure({ allowedOrigins: ['<unsafe_all_origins>'] })`)
  }
  return page.evaluate(async ([without, wanted]) => {
    const { violations } = await window.axe.run(without ? { exclude: without } : document, wanted)
    return violations.map(({ id, help, nodes }) => ({ id, help, example: nodes[0].html, why: nodes[0].failureSummary, count: nodes.length }))
  }, [exclude, { ...options, resultTypes: ['violations'], ...(dark && { runOnly: colors }) }])
}
