// Scrolls, filters, selects and changes many requests. MANY is the id of an app with COUNT requests,
// whose titles are numbered from 0. The test prints how long things take. Because machines differ,
// it compares the times with those in an app with few requests.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Caller, logIn, openBrowser, until } from './harness.mjs'

const count = Number(process.env.COUNT)
const told = count.toLocaleString('en')
const many = { id: process.env.MANY, total: `${told} requests`, words: `number ${Math.floor(count * 0.7)}` }
const few = { total: '20 requests', words: 'number 7' }
const owner = await Caller.logIn()

before(async () => {
  few.id = (await owner.addApp('Kiosk')).id
  for (let n = 0; n < 20; n++) {
    await owner.call('requests-create', { app_id: few.id, title: `Wish number ${n}`, description: '' })
  }
  // The index has caught up.
  await until(async () => (await owner.call('requests-list', { app_id: many.id, query: many.words, limit: 1 })).total_exact)
})

test(`${told} requests`, async (t) => {
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/?app=${many.id}`)
  const says = (text) => until(async () => (await page.locator('.list-head').innerText()).includes(text))
  await says(many.total)

  // Scrolls 400 pixels per frame.
  const { frames, slowest, rows, seconds } = await page.evaluate(async () => {
    const box = document.querySelector('.list')
    const times = []
    const began = performance.now()
    for (let n = 0; n < 120; n++) {
      box.scrollTop += 400
      times.push(await new Promise(requestAnimationFrame))
    }
    const gaps = times.slice(1).map((time, n) => time - times[n])
    const rows = document.querySelectorAll('[role=option]').length
    return { frames: times.length, slowest: Math.max(...gaps), rows, seconds: (performance.now() - began) / 1000 }
  })
  const speed = `${Math.round(frames / seconds)} frames a second, the slowest after ${Math.round(slowest)} ms`
  t.diagnostic(`scrolling: ${speed}, ${rows} rows in the page`)
  assert.ok(rows < 200, `${rows} rows are in the page`)

  // What the user does after End wins.
  const active = () => page.getByRole('listbox').getAttribute('aria-activedescendant')
  await page.getByRole('listbox').focus()
  await page.keyboard.press('Home')
  const first = await active()
  await page.keyboard.press('End')
  await page.getByText('Loading requests').waitFor()
  await page.keyboard.press('Home')
  await page.getByText('Loading requests').waitFor({ state: 'detached' })
  assert.equal(await active(), first)

  await page.getByLabel('Select all loaded requests').click({ force: true })
  await page.getByRole('button', { name: `Select all ${told}` }).click()
  await page.getByText(`${told} selected`).waitFor()
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  const notices = page.getByRole('region', { name: 'Notifications' })
  // change performs a change of all requests, and waits for its notice.
  const change = async (what, key, notice) => {
    const began = performance.now()
    await page.keyboard.press(key)
    await notices.getByText(notice).waitFor()
    t.diagnostic(`all that match, ${what}: ${Math.round(performance.now() - began)} ms`)
  }
  const planned = async () => (await owner.call('requests-list', { app_id: many.id, status: 'planned', limit: 1 })).total_count
  const before = await planned()
  await change('to a status', '3', `${told} requests are now Planned`)
  assert.equal(await planned(), count)
  await change('undone', 'u', `Undone. ${told} requests are back to Open.`)
  assert.equal(await planned(), before)
  await page.getByRole('listbox').focus()

  // use performs typical actions in an app's inbox, and keeps the shortest time of each.
  const use = async (app) => {
    const timed = async (what, run) => {
      const began = performance.now()
      await run()
      app[what] = Math.min(app[what] ?? Infinity, performance.now() - began)
    }
    await page.goto(`/?app=${app.id}`)
    await timed('the list after a reload', async () => {
      await page.reload()
      await page.getByRole('option').first().waitFor()
      await says(app.total)
    })
    await timed('a key', async () => {
      await page.getByRole('listbox').focus()
      const before = await page.getByRole('listbox').getAttribute('aria-activedescendant')
      await page.keyboard.press('j')
      await page.waitForFunction((old) => document.querySelector('[role=listbox]').getAttribute('aria-activedescendant') !== old, before)
    })
    await timed('a filter', async () => {
      await page.getByRole('complementary', { name: 'Filters' }).getByText('Open', { exact: true }).click()
      await page.waitForURL(/status=/)
      await says(app.total)
    })
    await timed('words that one has', async () => {
      await page.getByRole('searchbox', { name: 'Search' }).fill(app.words)
      await page.locator('[role=option][aria-posinset="1"]').and(page.getByRole('option', { name: `${app.words},` })).waitFor()
    })
  }
  for (let round = 0; round < 3; round++) for (const app of [few, many]) await use(app)
  for (const app of [few, many]) app['a key until it is painted (p95)'] = await painted(page, app)
  for (const what of ['the list after a reload', 'a key', 'a filter', 'words that one has', 'a key until it is painted (p95)']) {
    const took = `${what}: ${Math.round(many[what])} ms, and ${Math.round(few[what])} ms with a few requests`
    t.diagnostic(took)
    assert.ok(many[what] < 10 * few[what], took)
  }
  for (const [what, took] of await typical(page)) t.diagnostic(`${what} until it is painted (p50): ${took} ms`)
  assert.deepEqual(complaints, [])
})

// painted presses keys that move the selection, open requests and select them, and returns the time in
// which 95 of 100 were painted, as the browser tells it. It does not tell times below 16 ms.
async function painted(page, app) {
  await page.goto(`/?app=${app.id}`)
  await page.getByText(app.total).first().waitFor()
  await watch(page)
  await page.getByRole('listbox').focus()
  const keys = ['j', 'j', 'x', 'k', 'j', 'x', 'ArrowDown', 'PageDown', 'PageUp', 'Enter', 'j', 'k', 'Escape']
  let pressed = 0
  for (; pressed < 8 * keys.length; pressed++) await page.keyboard.press(keys[pressed % keys.length])
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100))))
  const slow = (await page.evaluate(() => told.map(({ duration }) => duration))).sort((a, b) => b - a)
  return slow[Math.floor(pressed / 20)] ?? 16
}

// watch collects the browser's event timings of keys in the page's variable told.
async function watch(page) {
  await page.evaluate(() => {
    globalThis.told = []
    const watcher = new PerformanceObserver((list) => told.push(...list.getEntries().filter(({ name }) => name === 'keydown')))
    watcher.observe({ type: 'event', durationThreshold: 16 })
  })
}

// typical returns the median time from each key of triage until the next paint, in steps of 8 ms. It does
// not tell times below 16 ms. The last one is measured in the page: until the next request's text is painted.
async function typical(page) {
  await page.goto(`/?app=${many.id}`)
  await page.getByText(many.total).first().waitFor()
  await watch(page)
  await page.getByRole('listbox').focus()
  const took = new Map()
  // press presses a key, waits until the page is quiet, and keeps how long the key took.
  const press = async (what, key) => {
    await page.evaluate(() => { told.length = 0 })
    await page.keyboard.press(key)
    await page.evaluate(() => new Promise((resolve) => { requestIdleCallback(() => setTimeout(resolve, 100)) }))
    const [duration = 16] = await page.evaluate(() => told.map(({ duration }) => duration))
    took.set(what, [...took.get(what) ?? [], duration])
  }
  for (let n = 0; n < 21; n++) {
    await press('j', 'j')
    await press('s', 's')
    await press('a digit', '234'[n % 3])
  }
  await page.keyboard.press('Enter')
  await page.locator('#request-title').waitFor()
  const opened = 'j with an open request'
  for (let n = 0; n < 21; n++) {
    await page.evaluate(() => {
      const title = () => document.querySelector('#request-title')?.textContent
      const before = title()
      let pressed
      globalThis.shown = undefined
      addEventListener('keydown', ({ timeStamp }) => { pressed = timeStamp }, { once: true, capture: true })
      requestAnimationFrame(function look() {
        if ([before, undefined].includes(title())) requestAnimationFrame(look)
        else setTimeout(() => { globalThis.shown = performance.now() - pressed }) // after the frame
      })
    })
    await page.keyboard.press('j')
    const shown = await (await page.waitForFunction(() => globalThis.shown)).jsonValue()
    took.set(opened, [...took.get(opened) ?? [], Math.round(shown)])
  }
  return [...took].map(([what, times]) => [what, times.sort((a, b) => a - b)[Math.floor(times.length / 2)]])
}
