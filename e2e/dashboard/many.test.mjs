// A hundred thousand requests: scrolling, filtering, choosing and changing all of them. What
// it takes is printed; limits are such as nobody would wait for, whatever the machine.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Caller, logIn, openBrowser, submit, until } from './harness.mjs'

const many = 100_000
const owner = await Caller.logIn()
let app

before(async () => {
  app = await owner.addApp('Shop')
  let next = 0
  await Promise.all(Array.from({ length: 64 }, async () => {
    while (next < many) await submit(app, { title: `Idea number ${next++}`, email: 'a@example.com' })
  }))
})

test('a hundred thousand requests', async (t) => {
  const { context, complaints } = await openBrowser(t)
  context.setDefaultTimeout(120_000)
  const page = await logIn(context)
  const timed = async (what, run, most) => {
    const began = performance.now()
    await run()
    const took = performance.now() - began
    t.diagnostic(`${what}: ${Math.round(took)} ms`)
    assert.ok(took < most, `${what} took ${took} ms`)
  }
  const head = page.locator('.list-head')
  const says = (text) => until(async () => (await head.innerText()).includes(text), 120)
  await says('100,000 requests')

  await timed('the list after a reload', async () => {
    await page.reload()
    await page.getByRole('option').first().waitFor()
    await says('100,000 requests')
  }, 10_000)

  // Scrolled as by a wheel that does not stop: frames come, and there is never a hole for long.
  const { frames, slowest, rows, seconds } = await page.evaluate(async () => {
    const box = document.querySelector('.list')
    const times = []
    const began = performance.now()
    while (performance.now() - began < 5000) {
      box.scrollTop += 400
      times.push(await new Promise(requestAnimationFrame))
    }
    const gaps = times.slice(1).map((time, n) => time - times[n])
    return { frames: times.length, slowest: Math.max(...gaps), rows: document.querySelectorAll('[role=option]').length, seconds: (performance.now() - began) / 1000 }
  })
  t.diagnostic(`scrolling: ${Math.round(frames / seconds)} frames a second, the slowest after ${Math.round(slowest)} ms, ${rows} rows in the page`)
  assert.ok(rows < 200, `${rows} rows are in the page`)

  await timed('a key', async () => {
    await page.getByRole('listbox').focus()
    const before = await page.getByRole('listbox').getAttribute('aria-activedescendant')
    await page.keyboard.press('j')
    await page.waitForFunction((old) => document.querySelector('[role=listbox]').getAttribute('aria-activedescendant') !== old, before)
  }, 2_000)

  await timed('all that match, to a status', async () => {
    await page.getByLabel('Select all that are loaded').or(page.getByLabel('Choose all that are loaded')).first().click({ force: true })
    await page.getByRole('button', { name: /Select all 100,000/ }).click()
    await page.getByText('100,000 selected').waitFor()
    await page.keyboard.press('s')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('3')
    await page.getByRole('region', { name: 'Notices' }).getByText('100,000 requests are now Planned').waitFor()
  }, 110_000)
  assert.equal((await owner.call('requests-list', { status: 'planned', limit: 1 })).total_count, many)

  await timed('a filter', async () => {
    await page.getByRole('complementary', { name: 'Filters' }).getByText('Planned').click()
    await page.waitForURL(/status=/)
    await says('100,000 requests')
  }, 10_000)

  await timed('words that one has', async () => {
    await page.getByRole('searchbox', { name: 'Search' }).fill('number 77777')
    await says('1 request')
  }, 10_000)
  assert.deepEqual(complaints, [])
})
