// Where things are on the screen, and that they stay there.
import assert from 'node:assert/strict'
import path from 'node:path'
import { before, test } from 'node:test'
import { inProof, some } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, screenshots, submit } from './harness.mjs'

const owner = await Caller.logIn()
const long = 'Export the invoices of a whole year as one file that an accountant can import without editing it first'

before(async () => {
  const apps = [
    await owner.addApp('Shop', { widget: { primary_color: '#0F766E' } }),
    await owner.addApp('Warehouse', { widget: { primary_color: '#BE123C' } }),
  ]
  for (let n = 1; n <= 40; n++) {
    const title = n % 2 ? `Idea number ${n}` : `${n}: ${long}`
    await submit(apps[n % 2], {
      title, email: `p${n}@example.com`, ...(n % 3 && { name: `Person ${n}` }), description: `Because of reason ${n}.\nAnd more of it.`,
    })
  }
  const { requests } = await owner.call('requests-list', { limit: 100 })
  const some = requests.filter((_, n) => n % 4 === 0).map(({ id }) => id)
  await owner.call('requests-bulk-update', { ids: some, set: { add_tags: ['accounting', 'data', 'export'] } })
})

// The list and its rows, as they are on the screen.
const placesOf = (page) => page.locator('.list').evaluate((list) => ({
  top: list.getBoundingClientRect().top,
  heights: [...new Set([...list.querySelectorAll('[role=option]')].map((row) => row.getBoundingClientRect().height))],
  titles: Math.min(...[...list.querySelectorAll('.item-title')].map((title) => title.getBoundingClientRect().width)),
  clipped: [...list.querySelectorAll('[role=option]')].filter((row) => row.scrollHeight > row.clientHeight + 1).length,
}))
const shoot = async (page, name) => {
  if (!screenshots) return
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.screenshot({ path: path.join(screenshots, `${name}-${colorScheme}.png`) })
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: 'reduce' })
}

const filters = '/?status=["opened","planned"]&assignee=none&from=2020-01-01T00:00:00Z&to=2040-01-01T00:00:00Z'
for (const [width, address] of some([[1440, '/'], [1024, '/'], [1440, filters], [1281, '/'], [901, '/']], 2)) {
  test(`opening a request moves no row at ${width} pixels${address === filters ? ' with many filters' : ''}`, async (t) => {
    const { context, complaints, quiet } = await openBrowser(t, { viewport: { width, height: 800 } })
    const page = await logIn(context, address)
    await page.getByRole('option').first().waitFor()
    await quiet(page)
    const alone = await placesOf(page)
    await shoot(page, `list-${width}-${address.length}`)
    const row = page.locator('[role=option][aria-posinset="8"]')
    const { y } = await row.boundingBox()
    await row.click()
    await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { level: 2 }).first().waitFor()
    await quiet(page)
    await shoot(page, `open-${width}-${address.length}`)
    const beside = await placesOf(page)
    assert.equal((await row.boundingBox()).y, y, 'the row that was clicked has moved')
    assert.equal(beside.top, alone.top)
    assert.equal(alone.heights.length, 1)
    assert.deepEqual(beside.heights, alone.heights)
    assert.deepEqual([alone.clipped, beside.clipped], [0, 0])
    assert.ok(beside.titles > 250, `a title has ${beside.titles} pixels`)
    for (const name of ['Newest', 'New request']) assert.ok(await page.getByRole('toolbar').getByText(name).isVisible(), name)
    assert.deepEqual(complaints, [])
  })
}

test('a row says who sent the request, to which app, and how it begins', async (t) => {
  const { context } = await openBrowser(t, { viewport: { width: 1440, height: 800 } })
  const page = await logIn(context)
  const row = page.getByRole('option', { name: 'Idea number 37, Open, Warehouse, from Person 37,' })
  assert.match((await row.innerText()).replace(/\s+/g, ' '), /Warehouse Person 37 Because of reason 37\. And more of it\./)
  await page.getByRole('option', { name: 'Idea number 39, Open, Warehouse, from p39@example.com,' }).waitFor()
  const shades = await page.locator('.item .app-mark').evaluateAll((marks) => marks.map((mark) => getComputedStyle(mark).backgroundColor))
  assert.deepEqual([...new Set(shades)].sort(), ['rgb(15, 118, 110)', 'rgb(190, 18, 60)'])
  assert.equal(await page.getByRole('group', { name: 'App' }).locator('.app-mark').count(), 2)
})

test('a viewer, who cannot select, has the same columns', inProof, async (t) => {
  await owner.addUser('viewer', 'Vera')
  const { context } = await openBrowser(t, { viewport: { width: 1440, height: 800 } })
  const columns = async (as) => {
    const page = await logIn(context, '/', as)
    await page.getByRole('option').first().waitFor()
    const left = await page.locator('.item').first().evaluate((row) =>
      ['status', 'item-title', 'item-line', 'item-votes', 'item-age'].map((name) => row.querySelector('.' + name).getBoundingClientRect().left))
    await page.getByRole('button', { name: 'Account:' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'Log in' }).waitFor()
    return left
  }
  assert.deepEqual(await columns('vera@example.com'), await columns())
})

for (const width of some([320, 390], 1)) {
  test(`a long title has two lines at ${width} pixels, and all rows have the same height`, async (t) => {
    const { context } = await openBrowser(t, { viewport: { width, height: 800 }, hasTouch: true, isMobile: true })
    const page = await logIn(context)
    await page.getByRole('option').first().waitFor()
    await shoot(page, `list-${width}`)
    const { heights, clipped } = await placesOf(page)
    assert.equal(heights.length, 1)
    assert.equal(clipped, 0)
    const lines = await page.locator('.item-title').evaluateAll((titles) =>
      titles.map((title) => Math.round(title.getBoundingClientRect().height / parseFloat(getComputedStyle(title).lineHeight))))
    assert.deepEqual([...new Set(lines)].sort(), [1, 2])
  })
}

test('below 1280 pixels, the navigation has only icons, with names and tooltips', async (t) => {
  const { context } = await openBrowser(t, { viewport: { width: 1024, height: 700 } })
  const page = await logIn(context)
  const nav = page.getByRole('navigation', { name: 'Pages' })
  const width = async () => (await nav.boundingBox()).width
  assert.ok((await width()) < 70, `it is ${await width()} pixels wide`)
  const shown = (name) => nav.getByText(name, { exact: true }).evaluate((label) => {
    const { left, top, right, bottom } = label.getBoundingClientRect()
    return document.elementsFromPoint((left + right) / 2, (top + bottom) / 2)[0] === label
  })
  for (const name of ['Inbox', 'Mentions', 'Apps', 'Insights', 'Team']) {
    const link = nav.getByRole('link', { name, exact: true })
    assert.equal(await shown(name), false, name)
    await link.hover()
    assert.ok(await shown(name), name)
    await page.mouse.move(700, 20)
    assert.equal(await shown(name), false, name)
  }
  await nav.getByRole('link', { name: 'Inbox' }).focus()
  await page.keyboard.press('Tab')
  assert.ok(await shown('Mentions'))
  await look(page, 'rail-1024')
  await page.setViewportSize({ width: 1280, height: 700 })
  assert.ok((await width()) > 200)
})

test('the preview of the widget stays in sight at 1024 pixels', async (t) => {
  const { context } = await openBrowser(t, { viewport: { width: 1024, height: 700 } })
  const [app] = (await owner.call('apps-list')).apps
  const page = await logIn(context, `/apps/${app.id}?section=widget`)
  await page.frameLocator('iframe').getByRole('button', { name: 'Feedback' }).waitFor()
  for (const control of [page.getByLabel('Colour', { exact: true }), page.getByText('Allow file uploads')]) {
    await control.scrollIntoViewIfNeeded()
    const { y, height } = await page.locator('iframe').boundingBox()
    assert.ok(y >= 0 && y + height <= 700, `the preview is from ${y} to ${y + height}`)
  }
  await shoot(page, 'preview-1024')
})

test('the sections of an app are all visible on phones', async (t) => {
  const [app] = (await owner.call('apps-list')).apps
  for (const width of [390, 320]) {
    const { context } = await openBrowser(t, { viewport: { width, height: 800 }, hasTouch: true, isMobile: true })
    const page = await logIn(context, `/apps/${app.id}`)
    const links = page.getByRole('navigation', { name: 'Sections' }).getByRole('link')
    await links.first().waitFor()
    const right = await links.evaluateAll((all) => all.map((link) => link.getBoundingClientRect().right))
    assert.equal(right.length, 11)
    assert.ok(Math.max(...right) <= width, `they end at ${Math.max(...right)}`)
    await shoot(page, `sections-${width}`)
  }
})
