// Where things are on the screen, and that they stay there.
import assert from 'node:assert/strict'
import path from 'node:path'
import { before, test } from 'node:test'
import { inProof, post, resultOf, some, soon } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, screenshots, service, submit } from './harness.mjs'

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
    const search = page.getByRole('searchbox', { name: 'Search' })
    const before = await search.boundingBox()
    await row.click()
    await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { level: 2 }).first().waitFor()
    await quiet(page)
    await shoot(page, `open-${width}-${address.length}`)
    const beside = await placesOf(page)
    assert.equal((await search.boundingBox()).width, before.width, 'the search has another width')
    assert.equal((await row.boundingBox()).y, y, 'the row that was clicked has moved')
    assert.equal(beside.top, alone.top)
    assert.equal(alone.heights.length, 1)
    assert.deepEqual(beside.heights, alone.heights)
    assert.deepEqual([alone.clipped, beside.clipped], [0, 0])
    assert.ok(beside.titles > 250, `a title has ${beside.titles} pixels`)
    for (const name of ['Sort: Newest', 'New request']) assert.ok(await page.getByRole('toolbar').getByRole('button', { name }).isVisible(), name)
    assert.deepEqual(complaints, [])
  })
}

for (const width of some([1440, 1024, 901], 1)) {
  test(`a search and a filter move nothing at ${width} pixels`, async (t) => {
    const { context, complaints, quiet } = await openBrowser(t, { viewport: { width, height: 800 } })
    const page = await logIn(context, '/?view=all')
    const list = page.getByRole('listbox', { name: 'Requests' })
    await page.getByRole('option').first().waitFor()
    await quiet(page)
    const caption = page.getByText('Matches for each option, with your other filters')
    const places = async () => {
      await quiet(page)
      const boxes = [list, page.getByRole('searchbox', { name: 'Search' }), page.getByRole('group', { name: 'Status' })]
      return Promise.all(boxes.map((part) => part.boundingBox().then(({ x, y, width }) => ({ x, y, width }))))
    }
    const before = await places()
    await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: /^Open/ }).click()
    await page.getByRole('list', { name: 'Active filters' }).waitFor()
    assert.deepEqual(await places(), before)
    await page.getByRole('searchbox').fill('Export')
    await page.getByRole('button', { name: 'Sort: Best match' }).waitFor()
    await caption.waitFor({ state: 'hidden' })
    assert.deepEqual(await places(), before)
    await shoot(page, `filtered-${width}`)
    assert.deepEqual(complaints, [])
  })
}

test('nothing shifts while the list is searched and filtered, and pages and sections change', async (t) => {
  const { context, quiet } = await openBrowser(t, { viewport: { width: 1440, height: 800 }, folded: true })
  const page = await logIn(context, '/?view=all')
  await page.getByRole('option').first().waitFor()
  await quiet(page)
  // Also those that follow an input, which are not counted by CLS.
  await page.evaluate(() => {
    window.shifts = []
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries().flatMap(({ sources }) => sources.map(
      ({ node, previousRect: from, currentRect: to }) => ({
        in: node?.parentElement?.closest('.inbox-panel') ? 'panel' : 'list',
        what: `${node?.nodeName}.${node?.className} from ${from.x},${from.y} to ${to.x},${to.y}`,
      }))))).observe({ type: 'layout-shift' })
  })
  const shifts = async () => {
    await quiet(page)
    return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.shifts.splice(0))))))
  }
  const search = page.getByRole('searchbox')
  await search.fill('Export')
  await page.getByRole('button', { name: 'Sort: Best match' }).waitFor()
  assert.deepEqual(await shifts(), [], 'a search')
  await search.fill('')
  await page.getByRole('button', { name: 'Sort: Newest' }).waitFor()
  assert.deepEqual(await shifts(), [], 'no search')
  await page.getByRole('option').nth(2).click()
  await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { level: 2 }).first().waitFor()
  // The list becomes narrower.
  assert.deepEqual((await shifts()).filter((shift) => shift.in === 'panel'), [], 'an open request')
  await page.getByRole('link', { name: 'Apps' }).click()
  await page.getByRole('link', { name: 'Shop' }).first().click()
  const sections = page.getByRole('navigation', { name: /ections/ })
  await sections.waitFor()
  const { x } = await sections.boundingBox()
  for (const name of await sections.getByRole('link').allInnerTexts()) {
    await sections.getByRole('link', { name, exact: true }).click()
    await quiet(page)
    assert.equal((await sections.boundingBox()).x, x, `the sections have moved at ${name}`)
  }
})

test('filters are shown when they are asked for, and titles have most of the width without them', async (t) => {
  const { context, complaints, quiet } = await openBrowser(t, { viewport: { width: 1440, height: 800 }, folded: true })
  const page = await logIn(context, '/?view=all')
  await page.getByRole('option').nth(3).click()
  await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { level: 2 }).first().waitFor()
  await quiet(page)
  const filters = page.getByRole('complementary', { name: 'Filters' })
  assert.equal(await filters.count(), 0)
  const share = await page.locator('.list').evaluate((list) =>
    list.querySelector('.item-title').getBoundingClientRect().width / list.getBoundingClientRect().width)
  assert.ok(share >= 0.6, `a title has ${share} of the list`)
  await page.keyboard.press('Escape')
  await page.keyboard.press('f')
  await filters.waitFor()
  await page.reload() // the browser keeps it
  await filters.waitFor()
  await page.getByRole('button', { name: 'Hide filters' }).click()
  await filters.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('beside an open request without room for filters, the button opens them as a dialog', async (t) => {
  const { context, complaints } = await openBrowser(t, { viewport: { width: 1280, height: 800 } })
  const page = await logIn(context, '/?view=all')
  await page.getByRole('complementary', { name: 'Filters' }).waitFor()
  await page.getByRole('button', { name: 'Hide filters' }).waitFor()
  await page.getByRole('option').nth(3).click()
  await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { level: 2 }).first().waitFor()
  const button = page.getByRole('button', { name: 'Show filters' })
  await button.click()
  const dialog = page.getByRole('dialog', { name: 'Filters' })
  await dialog.getByRole('button', { name: /^Show [0-9]+ requests$/ }).waitFor()
  await look(page, 'filters-1280')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.press('f')
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1440, height: 800 })
  await page.getByRole('button', { name: 'Hide filters' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('notices in the navigation stay in place while a change is under way', async (t) => {
  const { context, complaints } = await openBrowser(t, { viewport: { width: 1440, height: 800 } })
  const page = await logIn(context, '/?view=all')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('.') // there is nothing to repeat
  const notice = page.locator('.notice')
  await notice.first().waitFor()
  const top = async () => (await notice.first().boundingBox()).y
  await notice.first().hover() // so that it stays
  const before = await top()
  let go
  const held = new Promise((resolve) => (go = resolve))
  await page.route('**/api/requests-list', (route) => held.then(() => route.continue()))
  await page.keyboard.press('Control+a')
  await page.getByRole('toolbar', { name: 'Selected requests' }).waitFor()
  assert.equal(await top(), before)
  await page.keyboard.press('h')
  await page.getByText(/^Loading requests/).waitFor()
  assert.equal(await top(), before)
  go()
  await page.getByText(/now hidden/).waitFor()
  await page.keyboard.press('u')
  await page.getByText(/^Change to .* undone/).waitFor()
  assert.deepEqual(complaints, [])
})

test('compact rows have one line, and what is read stays in sight', async (t) => {
  const { context, complaints, quiet } = await openBrowser(t, { viewport: { width: 1280, height: 800 } })
  const page = await logIn(context, '/account')
  await page.getByRole('switch', { name: 'Compact rows' }).press('Space')
  await page.getByRole('link', { name: 'Inbox' }).click()
  await page.getByRole('option').first().waitFor()
  for (const [width, height] of [[1280, 36], [1024, 36], [390, 56], [320, 56]]) {
    await page.setViewportSize({ width, height: 800 })
    await quiet(page)
    const { heights, clipped } = await placesOf(page)
    assert.deepEqual(heights, [height], `at ${width} pixels`)
    assert.equal(clipped, 0, `a row is cut off at ${width} pixels`)
    await look(page, `compact-${width}`)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('listbox', { name: 'Requests' }).focus()
  await page.evaluate(async () => { // faster than frames
    for (let i = 0; i < 25; i++) {
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true, cancelable: true }))
      await new Promise((done) => setTimeout(done))
    }
  })
  const row = page.locator('.item-active')
  await row.and(page.locator('[aria-posinset="26"]')).waitFor()
  const [list, at] = [await page.locator('.list').boundingBox(), await row.boundingBox()]
  assert.ok(at.y >= list.y && at.y + at.height <= list.y + list.height, 'the row is out of sight')
  assert.deepEqual(complaints, [])
})

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
    const cut = await page.locator('.item-app').evaluateAll((apps) => apps.filter((app) => app.scrollWidth > app.clientWidth).length)
    assert.equal(cut, 0, 'the name of an app is cut off')
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
  for (const control of [page.getByLabel('Color', { exact: true }), page.getByText('Allow file uploads')]) {
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

test('long parts of a request are folded, load when they are opened, and stay open', async (t) => {
  const app = await owner.addApp('Folds')
  const description = Array.from({ length: 80 }, (_, i) => `Line ${i + 1}.`).join('\n')
  const { id } = await submit(app, { title: 'A long text', description, name: 'Zoe Quill' })
  const { context, complaints, quiet } = await openBrowser(t, { folded: true })
  const asked = []
  context.on('request', (request) => asked.push(new URL(request.url()).pathname.replace('/api/', '')))
  const page = await logIn(context, `/?request=${id}`)
  const panel = page.getByRole('complementary', { name: 'Request details' })
  const status = panel.getByRole('button', { name: 'Change Status' })
  await status.waitFor()
  await quiet(page)
  const { y } = await status.boundingBox()
  assert.ok(y < 300, `the status is ${y} px below the top`)
  assert.ok(!asked.includes('requests-similar'), 'a folded section was loaded')

  const last = () => panel.getByText('Line 80.').evaluate((text) => {
    const lines = text.ownerDocument.createRange()
    lines.selectNodeContents(text)
    return lines.getBoundingClientRect().bottom - text.getBoundingClientRect().bottom
  })
  assert.ok(await last() > 500, 'the text is not folded')
  await panel.getByRole('button', { name: 'Show all' }).click()
  assert.ok(await last() < 1)
  await panel.getByRole('button', { name: 'Show less' }).click()
  assert.ok(await last() > 500)

  await look(page, 'request-folded')
  const history = panel.getByRole('region', { name: 'History' })
  await history.getByRole('button', { name: 'History' }).click()
  await history.getByText('created the request').waitFor()
  await page.reload()
  await history.getByText('created the request').waitFor()
  assert.equal(await panel.getByRole('button', { name: 'Similar requests' }).getAttribute('aria-expanded'), 'false')
  await history.getByRole('button', { name: 'History' }).click()
  await history.getByText('created the request').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('pictures of a request are shown small, and open large', async (t) => {
  const app = await owner.addApp('Pictures', { widget: { allow_file_uploads: true } })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context)
  const picture = await page.screenshot({ clip: { x: 0, y: 0, width: 300, height: 200 } })
  const files = [['first.png', 'image/png', picture], ['second.png', 'image/png', picture], ['log.txt', 'text/plain', 'hello']]
  const attachments = []
  for (const [filename, content_type, content] of files) {
    const { upload } = resultOf('widget-create-upload', await post(
      service, 'widget-create-upload', { filename, content_type, size: content.length }, { 'X-API-Key': app.api_key }))
    assert.equal((await fetch(new URL(upload.url, service), { method: upload.method, headers: upload.headers, body: content })).status, 200)
    attachments.push(upload.id)
  }
  const { id } = await submit(app, { title: 'With pictures', attachments })
  await page.goto(`/?request=${id}`)
  const section = page.getByRole('region', { name: 'Files' })
  const first = section.getByRole('button', { name: 'Open first.png' })
  await first.waitFor()
  const sizes = () => section.locator('img').evaluateAll((list) => list.map(({ naturalWidth }) => naturalWidth))
  await soon('the pictures are loaded', async () => (await sizes()).join() === '300,300')
  await section.getByRole('link', { name: 'log.txt' }).waitFor()

  await first.click()
  const large = (name) => page.getByRole('dialog', { name }).getByRole('img', { name })
  assert.ok((await large('first.png').boundingBox()).width >= 300)
  await look(page, 'picture')
  await page.keyboard.press('ArrowRight')
  await large('second.png').waitFor()
  await page.keyboard.press('ArrowRight')
  await large('first.png').waitFor()
  await page.keyboard.press('ArrowLeft')
  await large('second.png').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await soon('the picture that was opened has the focus', () => first.evaluate((button) => button === document.activeElement))
  assert.deepEqual(complaints, [])
})

test('more tags than are counted can be found by name, in the order that people count', async (t) => {
  const app = await owner.addApp('Tags')
  for (const tens of [0, 1, 2]) {
    const { id } = await submit(app, { title: `Tagged ${tens}` })
    const tags = Array.from({ length: 20 }, (_, i) => `area-${tens * 20 + i + 1}`)
    await owner.call('requests-update', { id, tags })
  }
  const { context, complaints } = await openBrowser(t, { viewport: { width: 1440, height: 800 } })
  const page = await logIn(context, `/?app=${app.id}`)
  const tags = page.getByRole('group', { name: 'Tag' })
  await tags.getByRole('button', { name: 'Show more' }).waitFor()
  const find = tags.getByRole('searchbox', { name: 'Find a tag' })
  await find.fill('area-5')
  const names = () => tags.locator('.facet-name').allInnerTexts()
  await soon('the tags that match', async () => (await names())[0] === 'area-5')
  assert.deepEqual(await names(), ['area-5', ...Array.from({ length: 10 }, (_, i) => `area-${50 + i}`)])
  await tags.getByRole('button', { name: 'area-57' }).click()
  await page.getByRole('option', { name: /Tagged 2/ }).waitFor()
  await soon('one request is left', async () => await page.getByRole('option').count() === 1)
  await find.fill('nothing')
  await tags.getByText('No such tag').waitFor()
  await look(page, 'tags-found')
  assert.deepEqual(complaints, [])
})
