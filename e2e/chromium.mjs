// What all tests in a browser share: the browser, which is Debian's, at the path in CHROMIUM,
// and how long they wait.
import assert from 'node:assert/strict'
import { AxeBuilder } from '@axe-core/playwright'
import { chromium } from 'playwright-core'

// How long a test waits for what has to happen, in milliseconds. It is far longer than a busy
// machine takes, so that a test fails when something does not happen, not when it is late.
export const patience = 600_000

// launch starts a browser that calls nobody by itself.
export async function launch() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    timeout: patience,
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
    ],
  })
  browser.on('context', (context) => context.setDefaultTimeout(patience))
  return browser
}

// soon waits until something holds, and asks again after some milliseconds.
export async function soon(what, holds, every = 50) {
  const end = Date.now() + patience
  while (!(await holds())) {
    assert.ok(Date.now() < end, `it never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, every))
  }
}

// linger lets three seconds pass for a page's forms: the service takes those that are filled
// in faster for spam.
export async function linger(page) {
  await page.evaluate(() => {
    const now = performance.now.bind(performance)
    performance.now = () => now() + 3000
  })
}

// quietly returns what waits until a page of a context asks for nothing: not now, and not after
// it has drawn what the last answer has changed.
export function quietly(context) {
  const asked = new Map()
  context.on('page', (page) => {
    const open = new Set()
    asked.set(page, open)
    page.on('request', (request) => open.add(request))
    for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => open.delete(request))
  })
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))
  return (page) => soon('the page asks for nothing', async () => {
    const open = asked.get(page)
    if (open.size) return false
    await page.evaluate(drawn)
    return open.size === 0
  }, 10)
}

// The rules for which colours count. The others find the same in a light and in a dark page.
const colours = ['color-contrast', 'link-in-text-block']

// faults is what axe finds on a page: by all rules, or by those for colours alone. The tester's
// own mode for pages without frames needs no second page, and it brings over what was found only.
export async function faults(page, { dark = false, exclude, ...options } = {}) {
  const builder = new AxeBuilder({ page }).setLegacyMode(page.frames().length === 1)
  if (exclude) builder.exclude(exclude)
  const { violations } = await builder.options({ ...options, resultTypes: ['violations'], ...(dark && { runOnly: colours }) }).analyze()
  return violations.map(({ id, help, nodes }) => ({ id, help, example: nodes[0].html, why: nodes[0].failureSummary, count: nodes.length }))
}
