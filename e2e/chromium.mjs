// What all tests in a browser share: the browser, which is Debian's, at the path in CHROMIUM,
// and how long they wait.
import assert from 'node:assert/strict'
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

// soon waits until something holds.
export async function soon(what, holds) {
  const end = Date.now() + patience
  while (!(await holds())) {
    assert.ok(Date.now() < end, `it never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
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
