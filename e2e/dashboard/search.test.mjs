// The search of the inbox: best matches, spelling suggestions, orders, and bulk changes.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { inProof, some } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, submit, until } from './harness.mjs'

const owner = await Caller.logIn()
const ideas = ['Download invoices as PDF', 'Invoices in the calendar', 'Dark mode for the night', 'Export the calendar']
let app

before(async () => {
  app = await owner.addApp('Shop')
  for (const title of ideas) await submit(app, { title, description: '', name: 'Zoe Quill', email: 'zoe@example.com' })
  const found = await owner.call('requests-list', { app_id: app.id, query: 'invoices' })
  assert.deepEqual([found.total_count, found.total_exact], [2, true], 'new requests are found at once')
  // The words that correct typing errors are read some seconds later.
  await until(async () => (await owner.call('requests-list', { app_id: app.id, query: 'invoces' })).did_you_mean === 'invoices')
})

// open opens the inbox, and returns what the tests use of it.
async function open(t, address, options) {
  const { context, complaints, quiet } = await openBrowser(t, options)
  const page = await logIn(context, address)
  const field = page.getByRole('searchbox', { name: 'Search' })
  await field.waitFor()
  return {
    page, context, complaints, quiet, field,
    best: page.locator('[role=option][aria-posinset="1"]'),
    sort: page.getByRole('button', { name: /^Sort: / }),
    query: () => new URL(page.url()).searchParams,
    counts: (text) => page.locator('.list-head [role=status]').first().getByText(text, { exact: true }).waitFor(),
  }
}

test('a misspelled word finds the best matches, and the address keeps the search', async (t) => {
  const { page, complaints, field, best, sort, query, counts } = await open(t, `/?app=${app.id}`)
  await counts('4 requests')
  await page.keyboard.press('/')
  await page.keyboard.type('invoces')
  await page.waitForURL((url) => url.searchParams.get('q') === 'invoces') // "i" finds two requests, too
  await counts('2 requests')
  await best.and(page.getByRole('option', { name: /invoices/i })).waitFor()
  await page.getByRole('option', { name: /^Download invoices as PDF,/ }).waitFor()
  assert.equal(await sort.getAttribute('aria-label'), 'Sort: Best match')
  assert.deepEqual([query().get('q'), query().get('sort')], ['invoces', null])
  await look(page, 'search')

  await page.reload()
  await counts('2 requests')
  assert.equal(await field.inputValue(), 'invoces')
  assert.equal(await sort.getAttribute('aria-label'), 'Sort: Best match')

  await field.fill('quill')
  await counts('4 requests')

  // The palette forgives the same errors.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search commands and requests' }).fill('dwonload invoces')
  await page.getByRole('listbox', { name: 'Results' }).getByRole('option', { name: /Download invoices as PDF/ }).waitFor()
  assert.deepEqual(complaints, [])
})

test('after a search that found nothing, what the next one finds is not new', async (t) => {
  const { page, complaints, quiet, field, counts } = await open(t, `/?app=${app.id}`)
  await counts('4 requests')
  // The answer of the second search arrives after the page could have asked for new requests, and their number later.
  const frames = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))))
  let shown
  const list = new Promise((resolve) => (shown = resolve))
  await page.route('**/api/requests-list', async (route) => {
    const { query, limit } = route.request().postDataJSON()
    if (query === 'invoices') await (limit === 1 ? list : frames())
    await route.continue()
  })
  await field.fill('zeppelin')
  await counts('0 requests')
  await field.fill('invoices')
  await counts('2 requests')
  shown()
  await quiet(page)
  assert.equal(await page.getByRole('button', { name: /new request/ }).count(), 0)
  assert.deepEqual(complaints, [])
})

test('a search in a filter says how many more there are without it', async (t) => {
  const { page, complaints, counts } = await open(t, `/?app=${app.id}`)
  await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: /^Open/ }).click()
  const { requests } = await owner.call('requests-list', { app_id: app.id, query: 'invoices', limit: 1 })
  await owner.call('requests-update', { id: requests[0].id, status: 'planned' })
  await page.keyboard.press('/')
  await page.keyboard.type('invoices')
  await counts('1 request')
  await page.getByRole('button', { name: '1 more in all requests' }).click()
  await counts('2 requests')
  assert.equal(await page.getByRole('button', { name: /more in all requests/ }).count(), 0)
  await owner.call('requests-update', { id: requests[0].id, status: 'opened' })
  assert.deepEqual(complaints, [])
})

test('the sort menu offers the best match only during a search', inProof, async (t) => {
  const { page, field, sort, query, counts } = await open(t, `/?app=${app.id}`)
  const offered = async () => {
    await sort.click()
    await page.getByRole('menu').waitFor()
    return page.getByRole('menuitem').allInnerTexts()
  }
  const orders = ['Newest', 'Oldest', 'Most voted', 'Recently updated']
  await counts('4 requests')
  assert.deepEqual(await offered(), orders)
  await page.keyboard.press('Escape')
  await field.fill('the calendar')
  await counts('3 requests')
  assert.deepEqual(await offered(), ['Best match', ...orders])
  await look(page, 'search-sort')
  await page.getByRole('menuitem', { name: 'Newest' }).click()
  await counts('2 requests')
  assert.equal(query().get('sort'), 'newest')
  await page.reload()
  await counts('2 requests')
  assert.equal(await sort.getAttribute('aria-label'), 'Sort: Newest')
  await field.fill('')
  await counts('4 requests')
  assert.equal(query().get('sort'), null)
  await field.fill('the calendar')
  await counts('3 requests')
  assert.equal(await sort.getAttribute('aria-label'), 'Sort: Best match')
})

for (const width of some([1440, 390], 1)) {
  test(`a spelling is suggested, at ${width} px`, async (t) => {
    const address = `/?app=${app.id}&q=invoces&sort=newest`
    const { page, complaints, field, best, query, counts } = await open(t, address, { viewport: { width, height: 800 } })
    const state = page.getByRole('status').filter({ has: page.getByRole('heading', { name: 'No requests here match “invoces”' }) })
    await state.getByText('Did you mean invoices?').waitFor()
    await look(page, `search-meant-${width}`)
    await field.focus()
    const focused = () => page.evaluate(() => document.activeElement.ariaLabel)
    for (let n = 0; n < 60 && (await focused()) !== 'Search for invoices'; n++) await page.keyboard.press('Tab')
    assert.equal(await focused(), 'Search for invoices')
    await page.keyboard.press('Enter')
    await best.and(page.getByRole('option', { name: /^Invoices in the calendar,/ })).waitFor()
    await counts('2 requests')
    assert.deepEqual([query().get('q'), query().get('sort'), await field.inputValue()], ['invoices', 'newest', 'invoices'])
    await page.keyboard.press('Enter')
    await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { name: 'Invoices in the calendar' }).waitFor()
    if (width === 390) await page.keyboard.press('Escape')
    await look(page, `search-list-${width}`)
    await page.goto(`/?app=${app.id}&sort=newest&q=invoces+${'z'.repeat(100)}`)
    await page.getByRole('button', { name: 'Search for invoices z' }).waitFor()
    await look(page, `search-long-${width}`)
    await page.goto(`/?app=${app.id}&q=zzzzzz`)
    await page.getByRole('heading', { name: 'No requests here match “zzzzzz”' }).waitFor()
    await page.getByText('Other views and filters may have some.').waitFor()
    await look(page, `search-nothing-${width}`)
    assert.deepEqual(complaints, [])
  })
}

test('removing filters moves the focus to the next one, and then to the button that shows them', async (t) => {
  const { page, complaints, counts } = await open(t, `/?app=${app.id}&status=["opened"]&assignee=none&source=widget&view=all`)
  await counts('4 requests')
  const chip = (name) => page.getByRole('button', { name: `Remove filter: ${name}` })
  const removed = async (name, next) => {
    await chip(name).press('Enter')
    await chip(name).waitFor({ state: 'detached' })
    await until(() => next.evaluate((button) => button === document.activeElement))
  }
  await removed('Shop', chip('Unassigned'))
  await removed('Source: Widget', chip('Unassigned'))
  await removed('Unassigned', chip('Open'))
  await removed('Open', page.getByRole('button', { name: 'Hide filters' }))
  await page.goto(`/?app=${app.id}&assignee=none&view=all`)
  await page.getByRole('button', { name: 'Clear all' }).press('Enter')
  await page.getByRole('button', { name: 'Clear all' }).waitFor({ state: 'detached' })
  await until(() => page.evaluate(() => document.activeElement.ariaLabel === 'Hide filters'))

  // What the empty list offers.
  await page.goto(`/?app=${app.id}&tag=unknown&view=all`)
  await page.getByRole('button', { name: 'Clear filters' }).press('Enter')
  await page.getByRole('option').first().waitFor()
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main')
  assert.deepEqual(complaints, [])
})

test('a total that is not exact is one number, and becomes exact when the index has followed', async (t) => {
  const { context, complaints } = await openBrowser(t)
  let behind = true
  await context.route('**/api/requests-list', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    if (behind && json.ok) json.result.total_exact = false
    await route.fulfill({ response, json })
  })
  const page = await logIn(context, `/?app=${app.id}&view=all`)
  const total = (text) => page.locator('.list-head [role=status]').first().getByText(text, { exact: true }).waitFor()
  await total('at least 4 requests')
  behind = false
  await total('4 requests')
  behind = true
  await page.goto(`/?app=${app.id}&view=all&q=invoices`)
  await total('2 best matches')
  await page.getByRole('button', { name: 'More in all requests' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('keys keep their place, whatever the order of the filters in the address', async (t) => {
  const { page, complaints, counts } = await open(t, `/?status=%5B"opened"%5D&app=${app.id}&view=all`)
  await counts('4 requests')
  const row = (n) => page.locator(`[role=option][aria-posinset="${n}"]`)
  const title = (n) => row(n).locator('.item-title').innerText()
  await page.keyboard.press('j') // marks the first row
  assert.equal(await page.getByRole('listbox').getAttribute('aria-activedescendant'), await row(1).getAttribute('id'))
  await page.keyboard.press('j')
  const opened = await title(2)
  const next = await title(3)
  await page.keyboard.press('Enter')
  const details = page.getByRole('complementary', { name: 'Request details' })
  await details.getByRole('heading', { name: opened }).waitFor()
  await page.keyboard.press('j')
  await details.getByRole('heading', { name: next }).waitFor()
  assert.deepEqual(complaints, [])
})

test('while a word is typed, the list stays in place', async (t) => {
  const { page, quiet, field, best, counts } = await open(t, `/?app=${app.id}`)
  await counts('4 requests')
  await page.evaluate(() => {
    const list = document.querySelector('.list')
    const top = list.getBoundingClientRect().top
    window.jumps = []
    const check = () => {
      if (!list.isConnected) return window.jumps.push('another list')
      if (list.getBoundingClientRect().top !== top) window.jumps.push('the list moved')
      if (!list.querySelector('[role=option]')) window.jumps.push('no rows')
      requestAnimationFrame(check)
    }
    check()
  })
  await field.focus()
  for (const letter of 'calendar') {
    await page.keyboard.type(letter)
    await quiet(page)
  }
  await counts('2 requests')
  assert.deepEqual(await page.evaluate(() => window.jumps), [])

  // The position of the keyboard is on the best match, wherever the row was before.
  await field.fill('invoices pdf')
  await best.and(page.getByRole('option', { name: /^Download invoices/ })).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { name: 'Download invoices as PDF' }).waitFor()
})

test('a row that was deleted comes back among the best matches', async (t) => {
  const { page, field, best, counts } = await open(t, `/?app=${app.id}`)
  await field.fill('invoices pdf')
  await best.and(page.getByRole('option', { name: /^Download invoices/ })).waitFor()
  await counts('2 requests')
  await page.keyboard.press('Enter')
  await page.keyboard.press('#')
  await counts('1 request')
  await page.keyboard.press('u')
  await best.and(page.getByRole('option', { name: /^Download invoices/ })).waitFor()
  await counts('2 requests')
})

test('what applies to all matching requests needs all words', async (t) => {
  const shelf = await owner.addApp('Shelf')
  const add = (title) => owner.call('requests-create', { app_id: shelf.id, title, description: '' })
  for (let n = 0; n < 240; n++) await add(`Bookmark folder ${n}`)
  for (let n = 0; n < 10; n++) await add(`Bookmark ${n}`)
  const { page, sort, quiet, counts } = await open(t, `/?app=${shelf.id}&q=bookmark+folder`)
  const facet = page.getByRole('group', { name: 'Status' }).getByRole('button', { name: /^Open/ })
  const exported = async () => {
    await page.getByRole('button', { name: 'Export requests' }).click()
    await page.getByRole('menuitem', { name: /CSV/ }).waitFor()
    await quiet(page)
    const texts = await page.getByRole('menuitem').allInnerTexts()
    await page.keyboard.press('Escape')
    return texts.flatMap((text) => text.match(/Exact matches only.*/) ?? [])
  }
  await counts('250 requests')
  await quiet(page)
  await page.getByLabel('Select all loaded requests').click({ force: true })
  await page.getByText('200 selected').waitFor()
  assert.equal(await page.getByRole('button', { name: /^Select all \d/ }).count(), 0)
  assert.equal((await facet.innerText()).trim(), 'Open')
  assert.deepEqual(await exported(), Array(2).fill('Exact matches only (240 of 250)'))
  await look(page, 'search-bulk')

  await sort.click()
  await page.getByRole('menuitem', { name: 'Newest' }).click()
  await counts('240 requests')
  await quiet(page)
  await facet.getByText('240').waitFor()
  assert.deepEqual(await exported(), [])
  await page.getByLabel('Select all loaded requests').click({ force: true })
  await page.getByRole('button', { name: 'Select all 240' }).click()
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('3')
  await page.getByRole('region', { name: 'Notifications' }).getByText('240 requests are now Planned').waitFor()
  assert.equal((await owner.call('requests-list', { app_id: shelf.id, status: 'planned', limit: 1 })).total_count, 240)
})
