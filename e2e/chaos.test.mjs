// Sends ideas with the widget while the network, the tabs and the service fail. In the end, each
// must be stored exactly once. A call to CONTROL kills and restarts the service.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { launch, patience, post, resultOf, soon } from './browser.mjs'

const { URL: service, KEY: key, TOKEN: token, CONTROL: control } = process.env
const count = Number(process.env.IDEAS)
const tabs = 2
const kills = 4

// The random numbers are the same in each run, so that runs differ only in timing.
let state = 20261121
function chance() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 2 ** 32
}

let browser, site
before(async () => {
  browser = await launch()
  const script = `<script async src="${service}/widget.js" data-key="${key}"></script>`
  const page = `<!doctype html><html lang="en"><title>Shop</title>${script}`
  site = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end(page))
  await new Promise((listening) => site.listen(0, '127.0.0.1', listening))
})
after(async () => {
  await browser?.close()
  site?.close()
})

// stored returns the titles of all requests, including those in quarantine.
async function stored() {
  const titles = []
  for (const box of ['live', 'quarantine']) {
    for (let cursor = '', more = true; more;) {
      const page = { box, limit: 200, cursor }
      const result = resultOf('requests-list', await post(service, 'requests-list', page, { Authorization: `Bearer ${token}` }))
      titles.push(...result.requests.map((request) => request.title))
      cursor = result.next_cursor
      more = result.has_more
    }
  }
  return titles
}

test('nothing is lost, and nothing is stored twice', async (t) => {
  const context = await browser.newContext()
  const receipts = new Set() // ideas for which a page has received the service's receipt
  const early = [] // ideas that the widget reported as sent before that
  const happened = {}
  const note = (what) => (happened[what] = (happened[what] ?? 0) + 1)
  let calm = false

  await context.exposeFunction('noteSubmit', (id) => {
    if (!receipts.has(id)) early.push(id)
  })
  await context.addInitScript(() => {
    addEventListener('gatherkit:submit', ({ detail }) => window.noteSubmit(detail.id))
    addEventListener('gatherkit:queued', ({ detail }) => (window.queuedLast = detail.id))
  })
  await context.route('**/api/widget-submit-request', async (route) => {
    const id = JSON.parse(route.request().postData()).idempotency_key
    const luck = calm ? 1 : chance()
    const finish = async (what, work) => {
      note(what)
      await work().catch(() => {}) // the tab may be closed
    }
    if (luck < 0.12) return finish('connection refused', () => route.abort())
    if (luck < 0.24) {
      const broken = { status: 500, headers: { 'Access-Control-Allow-Origin': '*' }, body: 'broken' }
      return finish('answered with 500', () => route.fulfill(broken))
    }
    let answer
    try {
      answer = await route.fetch()
    } catch {
      return finish('service down', () => route.abort())
    }
    if (luck < 0.4) return finish('answer lost', () => route.abort())
    if (answer.ok()) receipts.add(id)
    return finish(answer.ok() ? 'stored' : `answered with ${answer.status()}`, () => route.fulfill({ response: answer }))
  })

  const open = async () => {
    const page = await context.newPage()
    for (let wait = 3000; ; wait *= 2) { // the service may have been down when the page loaded the script
      try {
        await page.goto(`http://127.0.0.1:${site.address().port}/`)
        await page.getByRole('button', { name: 'Feedback' }).waitFor({ timeout: wait })
        return page
      } catch (error) {
        if (wait > patience) throw error
      }
    }
  }
  const pages = await Promise.all(Array.from({ length: tabs }, open))

  // share sends an idea and waits until the widget has stored it in the outbox.
  const share = async (page, title) => {
    await page.bringToFront() // Chromium draws background tabs only once per second
    await page.evaluate(() => {
      window.queuedLast = undefined
      window.Gatherkit('open')
    })
    const again = page.getByRole('button', { name: 'Share another idea' })
    const field = page.getByLabel('Your idea')
    await page.locator('.form[aria-busy="true"]').waitFor({ state: 'detached' })
    // The result of the previous idea may still change what the panel shows.
    for (let wait = 1000; !(await field.isVisible()); wait *= 2) await again.click({ timeout: wait }).catch(() => {})
    await field.fill(title)
    await page.getByRole('button', { name: 'Send idea' }).click()
    await page.waitForFunction(() => window.queuedLast)
  }

  for (let i = 0; i < count; i++) {
    const tab = Math.floor(chance() * tabs)
    const fate = chance()
    if (fate < 0.08) {
      note('written offline')
      await context.setOffline(true)
    }
    await share(pages[tab], `Idea ${i}`)
    if (fate < 0.08) await context.setOffline(false)
    if (fate > 0.85) {
      note('tab killed')
      await pages[tab].close()
      pages[tab] = await open()
    } else {
      await pages[tab].evaluate(() => window.Gatherkit('close'))
    }
    if (i % Math.floor(count / (kills + 1)) === Math.floor(count / (kills + 1)) - 1 && kills * Math.floor(count / (kills + 1)) > i) {
      note('service killed')
      await fetch(control, { method: 'POST' })
    }
  }
  calm = true
  // The next visit sends the remaining ideas. Its clock is ten minutes ahead, so that no idea has to
  // wait for its next attempt.
  await Promise.all(pages.map((page) => page.close()))
  await context.addInitScript(() => {
    const now = Date.now
    Date.now = () => now() + 600_000
  })
  const last = await open()
  await soon('all ideas are sent', () => last.evaluate(() => new Promise((resolve, reject) => {
    const opening = indexedDB.open('gatherkit')
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const asking = opening.result.transaction('outbox').objectStore('outbox').count()
      asking.onsuccess = () => {
        opening.result.close()
        resolve(asking.result === 0)
      }
    }
  })))
  const titles = await stored()
  t.diagnostic(JSON.stringify(happened))
  assert.deepEqual(titles.toSorted(), Array.from({ length: count }, (_, i) => `Idea ${i}`).toSorted())
  assert.deepEqual(early, [], 'reported as sent before the receipt')
  const faults = ['connection refused', 'answered with 500', 'answer lost', 'written offline', 'tab killed', 'service killed']
  for (const what of [...faults, 'stored']) {
    assert.ok(happened[what] > 0, `this never happened: ${what}`)
  }
})
