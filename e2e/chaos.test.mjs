// Ideas are sent through the widget while the network, the tabs and the service fail.
// At the end each must be stored, once. CONTROL kills the service and starts it again.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { launch, patience, soon } from './chromium.mjs'

const { URL: service, KEY: key, TOKEN: token, CONTROL: control } = process.env
const count = Number(process.env.IDEAS)
const tabs = 2
const kills = 4

// The same numbers in each run: what happens follows from them as far as time lets it.
let state = 20261121
function chance() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 2 ** 32
}

let browser, site
before(async () => {
  browser = await launch()
  const page = `<!doctype html><html lang="en"><title>Shop</title><script async src="${service}/widget.js" data-key="${key}"></script>`
  site = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end(page))
  await new Promise((listening) => site.listen(0, '127.0.0.1', listening))
})
after(async () => {
  await browser?.close()
  site?.close()
})

/** All titles that the service has, whatever it takes for spam. */
async function stored() {
  const titles = []
  for (const box of ['live', 'quarantine']) {
    for (let cursor = '', more = true; more;) {
      const answer = await fetch(`${service}/api/requests-list`, {
        method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }, body: JSON.stringify({ box, limit: 200, cursor }),
      })
      const { ok, result, error } = await answer.json()
      assert.ok(ok, error?.message)
      titles.push(...result.requests.map((request) => request.title))
      cursor = result.next_cursor
      more = result.has_more
    }
  }
  return titles
}

test('nothing is lost, and nothing is stored twice', async (t) => {
  const context = await browser.newContext()
  const receipts = new Set() // ideas whose receipt a page has been given
  const early = [] // ideas that were called sent before that
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
    const go = async (what, work) => {
      note(what)
      await work().catch(() => {}) // the tab may be gone
    }
    if (luck < 0.12) return go('refused by the network', () => route.abort())
    if (luck < 0.24) return go('answered by 500', () => route.fulfill({ status: 500, headers: { 'Access-Control-Allow-Origin': '*' }, body: 'broken' }))
    let answer
    try {
      answer = await route.fetch()
    } catch {
      return go('met a dead service', () => route.abort())
    }
    if (luck < 0.4) return go('lost its answer', () => route.abort())
    if (answer.ok()) receipts.add(id)
    return go(answer.ok() ? 'stored' : `answered by ${answer.status()}`, () => route.fulfill({ response: answer }))
  })

  const open = async () => {
    const page = await context.newPage()
    for (let wait = 3000; ; wait *= 2) { // the script may have met a dead service
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

  /** Writes an idea and presses the button; it is safe when the widget says so. */
  const share = async (page, title) => {
    await page.bringToFront() // Chromium draws tabs behind others once a second
    await page.evaluate(() => {
      window.queuedLast = undefined
      window.Gatherkit('open')
    })
    const again = page.getByRole('button', { name: 'Share another idea' })
    const field = page.getByLabel('Your idea')
    await page.locator('form[aria-busy="true"]').waitFor({ state: 'detached' })
    // What became of the one before may still change what the panel shows.
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
  // The next visit sends what is left, once it has waited: ten minutes are over then.
  await Promise.all(pages.map((page) => page.close()))
  await context.addInitScript(() => {
    const now = Date.now
    Date.now = () => now() + 600_000
  })
  const last = await open()
  await soon('all is sent', () => last.evaluate(() => new Promise((resolve, reject) => {
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
  assert.deepEqual(early, [], 'called sent before the receipt')
  for (const what of ['refused by the network', 'answered by 500', 'lost its answer', 'stored', 'written offline', 'tab killed', 'service killed']) {
    assert.ok(happened[what] > 0, `it never happened: ${what}`)
  }
})
