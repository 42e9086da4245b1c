// Tests of the pages of a portal. The variables are those of dashboard/harness.mjs.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import { test } from 'node:test'
import { faults, inProof, proof, some } from './browser.mjs'
import { Caller, look, openBrowser, service, submit } from './dashboard/harness.mjs'
import { line, payloads } from './payloads.mjs'

const owner = await Caller.logIn()
let portals = 0

// addPortal adds an app with a portal on which everybody may do everything.
async function addPortal(name, { portal, ...settings } = {}) {
  const slug = `shop-${++portals}`
  const open = { access: 'public', slug, comments: 'anyone', moderation: 'none', ...portal }
  const app = await owner.addApp(name, { sharing: 'all', ...settings, portal: open })
  return { ...app, slug, home: `${service}/p/${slug}/` }
}

// visitor opens a browser. Nothing on its pages may fail or be refused by their policy.
async function visitor(t, options = {}) {
  const { context, complaints } = await openBrowser(t, options)
  t.after(() => assert.deepEqual(complaints, []))
  return context.newPage()
}

// Titles are between characters that isolate their direction.
const vote = (pressed) => (page, title) => page.getByRole('button', { name: new RegExp(`^Vote for .${title}`), pressed })
const votes = vote(false)
const unvotes = vote(true)
const heading = (page, name) => page.getByRole('heading', { level: 1, name, exact: true })

async function publish(app, title, body, labels = []) {
  const { entry } = await owner.call('entries-create', { app_id: app.id, title, body, labels })
  await owner.call('entries-publish', { id: entry.id })
  return entry
}

// product serves the page of the customer's product that signs people in, with the example of docs/portal.md.
async function product(t, app, user) {
  const text = await readFile('../docs/portal.md', 'utf8')
  const [, example] = text.match(/^```js\n(.*?)^```$/ms)
  const code = example.replace('https://feedback.example.com', service)
  const { signInAddress } = await import('data:text/javascript,' + encodeURIComponent(code))
  const { secret } = await owner.call('apps-identity-secret', { id: app.id })
  Object.assign(process.env, { GATHERKIT_IDENTITY_SECRET: secret, GATHERKIT_API_KEY: app.api_key })
  const server = http.createServer(async (request, response) => {
    const returnTo = new URL(request.url, service).searchParams.get('return_to')
    response.writeHead(303, { Location: await signInAddress(user, returnTo) }).end()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => (server.closeAllConnections(), server.close()))
  const portal = { sign_in_url: `http://127.0.0.1:${server.address().port}/sign-in`, names: 'verified' }
  await owner.call('apps-update-settings', { id: app.id, settings: { portal } })
}

async function signIn(page) {
  await page.getByRole('link', { name: 'Sign in', exact: true }).click()
  await page.getByRole('main').getByRole('link').click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

test('a visitor votes and comments', async (t) => {
  const app = await addPortal('Shop')
  await submit(app, { title: 'Dark mode' })
  const page = await visitor(t)
  await page.goto(app.home)
  assert.deepEqual(await page.context().cookies(), [], 'reading sets a cookie')
  await counted(page, () => votes(page, 'Dark mode').click())
  assert.match(await unvotes(page, 'Dark mode').innerText(), /2$/)
  const [cookie] = await page.context().cookies()
  assert.deepEqual([cookie.path, cookie.httpOnly, cookie.sameSite], [`/p/${app.slug}/`, true, 'Lax'])
  await page.getByRole('link', { name: 'Dark mode' }).click()
  await page.getByLabel('Your comment').fill('Yes, please.\nAt night, too.')
  await page.getByRole('button', { name: 'Send comment' }).click()
  await page.getByText('Your comment is published.').waitFor()
  await page.getByText('At night, too.').waitFor()
})

// counted waits until the service has answered the vote that act gives.
async function counted(page, act) {
  await act()
  await page.locator('.vote[aria-disabled]').waitFor({ state: 'detached' })
}

test('a vote does not load the page again', async (t) => {
  const app = await addPortal('Shop')
  const request = await submit(app, { title: 'Dark mode' })
  const page = await visitor(t)
  for (const path of ['', `r/${request.id}/dark-mode`]) {
    await page.goto(app.home + path)
    await page.evaluate(() => { window.same = true })
    const button = votes(page, 'Dark mode')
    await button.focus()
    await counted(page, () => page.keyboard.press('Enter'))
    assert.match(await unvotes(page, 'Dark mode').innerText(), /2$/)
    const [, given] = (await owner.call('votes-list', { request_id: request.id })).votes
    assert.ok(given, 'the vote is not stored')
    await counted(page, () => page.keyboard.press('Enter'))
    assert.match(await votes(page, 'Dark mode').innerText(), /1$/)
    assert.ok(await page.evaluate(() => window.same && document.activeElement.form?.id === 'ballot'), 'the page was loaded again')
    await page.reload()
    assert.match(await votes(page, 'Dark mode').innerText(), /1$/)
  }
})

test('a vote that is refused says why', async (t) => {
  const app = await addPortal('Shop')
  await submit(app, { title: 'Dark mode' })
  const page = await visitor(t)
  await page.goto(app.home)
  await owner.call('apps-update-settings', { id: app.id, settings: { portal: { voting: 'off' } } })
  await votes(page, 'Dark mode').click()
  await heading(page, 'Dark mode').waitFor()
  await page.getByRole('alert').waitFor()
})

test('a vote that does not arrive says so, and can be given again', async (t) => {
  const app = await addPortal('Shop')
  const { id } = await submit(app, { title: 'Dark mode' })
  const page = await visitor(t)
  for (const path of ['', `r/${id}`]) {
    await page.goto(app.home + path)
    await page.context().setOffline(true)
    await votes(page, 'Dark mode').click()
    await page.getByRole('alert').getByText('Your vote was not counted.').waitFor()
    assert.match(await votes(page, 'Dark mode').innerText(), /1$/)
    await page.context().setOffline(false)
    await counted(page, () => votes(page, 'Dark mode').click())
    assert.match(await unvotes(page, 'Dark mode').innerText(), /2$/)
    assert.equal(await page.getByRole('alert').count(), 0)
    await counted(page, () => unvotes(page, 'Dark mode').click())
  }
})

test('what is sent is sent once, is not lost offline, and is confirmed', async (t) => {
  const app = await addPortal('Shop')
  const idea = await submit(app, { title: 'Export as PDF' })
  const { context } = await openBrowser(t, { viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  await page.goto(`${app.home}r/${idea.id}`)
  await page.getByLabel('Your comment').fill('Yes, please.')
  await context.setOffline(true)
  const send = page.getByRole('button', { name: 'Send comment' })
  await send.click()
  await page.getByRole('alert').getByText('Your comment was not sent. Try again in a minute.').waitFor()
  assert.equal(await page.getByLabel('Your comment').inputValue(), 'Yes, please.')
  await context.setOffline(false)
  await send.evaluate((button) => {
    button.click()
    button.click()
  })
  await page.getByText('Your comment is published.').waitFor()
  assert.equal(await page.getByText('Yes, please.').count(), 1)
  await page.waitForURL((url) => url.search === '')
  assert.equal((await owner.call('comments-list', { request_id: idea.id })).comments.length, 1)

  await page.goto(`${app.home}new`)
  await page.getByLabel('Your idea').pressSequentially('export')
  const found = page.locator('.similar').getByRole('heading', { name: 'Export as PDF' })
  await found.waitFor()
  const [above, below] = [await page.getByLabel('Details').boundingBox(), await found.boundingBox()]
  assert.ok(below.y < above.y, 'similar ideas are below the details')
  await page.getByLabel('Your idea').fill('Print the invoices')
  await page.getByRole('button', { name: 'Send idea' }).click()
  const thanks = page.getByRole('status').getByText('Thank you. We have your idea.')
  await thanks.waitFor()
  assert.ok(await thanks.evaluate((element) => element === document.activeElement), 'the thanks have no focus')
  await page.reload()
  await heading(page, 'Print the invoices').waitFor()
  assert.equal(await thanks.count(), 0, 'the thanks are said again')
})

test('similar ideas appear while a title is typed', async (t) => {
  const app = await addPortal('Shop')
  for (const title of ['Export as PDF', 'Dark mode for the editor']) await submit(app, { title })
  const page = await visitor(t)
  await page.goto(`${app.home}new`)
  const idea = page.getByLabel('Your idea')
  const places = () => page.locator('form.send').boundingBox()
  const before = await places()
  await idea.pressSequentially('dark editor')
  const found = page.getByRole('status').getByRole('heading')
  await found.waitFor()
  assert.deepEqual(await page.locator('.similar h3').allInnerTexts(), ['Dark mode for the editor'])
  assert.deepEqual(await places(), before, 'the form has moved')
  assert.ok(await idea.evaluate((element) => element === document.activeElement), 'the focus has moved')
  await page.getByLabel('Details').fill('My eyes hurt.')
  await counted(page, () => votes(page, 'Dark mode').click())
  assert.equal(await unvotes(page, 'Dark mode').count(), 1)
  assert.equal(await idea.inputValue(), 'dark editor', 'the page was loaded again')
  const [request] = (await owner.call('requests-list', { app_id: app.id, query: 'dark' })).requests
  const said = (await owner.call('votes-list', { request_id: request.id })).votes.map(({ why }) => why)
  assert.deepEqual(said.filter(Boolean), ['dark editor My eyes hurt.'])
  await page.getByText('Counted. You no longer need to send your idea.').waitFor()

  await idea.fill('invoices by the hour')
  await found.waitFor({ state: 'detached' })
  assert.equal(await page.locator('.similar li').count(), 0)
  await owner.call('apps-update-settings', { id: app.id, settings: { portal: { access: 'off' } } })
  const refused = page.waitForResponse((response) => response.status() === 404)
  await idea.fill('dark')
  await refused
  assert.equal(await idea.inputValue(), 'dark')
})

test('the board follows what is searched, and its last row sends it', async (t) => {
  const app = await addPortal('Shop')
  for (const title of ['Export as PDF', 'Dark mode', 'Dark icons']) await submit(app, { title })
  const page = await visitor(t)
  await page.goto(app.home)
  const search = page.getByRole('searchbox', { name: 'Search ideas' })
  const places = async () => [await search.boundingBox(), (await page.locator('.ideas').boundingBox()).y]
  const before = await places()
  assert.equal(await page.getByRole('link', { name: /Suggest/ }).count(), 0)
  await search.pressSequentially('dark')
  await page.getByRole('status').getByText(/.2. ideas/).waitFor()
  assert.deepEqual(await page.locator('.idea h2').allInnerTexts(), ['Dark icons', 'Dark mode'])
  assert.deepEqual(await places(), before, 'the page has moved')
  assert.match(await page.title(), /^Ideas with “dark”/)
  assert.ok(await search.evaluate((element) => element === document.activeElement), 'the focus has moved')
  await counted(page, () => votes(page, 'Dark mode').click())
  await page.reload() // the address has the search
  assert.equal(await search.inputValue(), 'dark')
  assert.deepEqual(await places(), before, 'the page is another one after it was loaded')
  assert.equal(await unvotes(page, 'Dark mode').count(), 1)

  // What is focused keeps the focus while its list is replaced.
  const answer = page.waitForResponse(/\?q=dark\+m/)
  await search.fill('dark m')
  await page.getByRole('link', { name: 'Dark mode' }).focus()
  await answer
  await page.getByRole('status').getByText(/.1. idea\b/).waitFor()
  assert.equal(await page.locator(':focus').innerText(), 'Dark mode')

  await page.goto(`${app.home}?q=dark&status=planned`)
  await page.getByRole('heading', { name: 'No ideas here' }).waitFor()
  await page.getByRole('link', { name: 'Search all ideas' }).click()
  await page.getByText(/.2. ideas/).first().waitFor()
  await page.waitForLoadState() // its script listens now

  await search.fill('flying cars')
  await page.getByRole('heading', { name: /No idea matches “.flying cars/ }).waitFor()
  await page.getByRole('link', { name: /Suggest “.flying cars/ }).click()
  assert.equal(await page.getByLabel('Your idea').inputValue(), 'flying cars')
  await page.goBack()
  await page.waitForLoadState()
  await search.fill('')
  await page.getByRole('status').getByText(/.3. ideas/).waitFor()
  assert.equal(await page.getByRole('link', { name: /Suggest/ }).count(), 0)
})

test('a search keeps the order, and says when it fails', async (t) => {
  const app = await addPortal('Shop')
  for (const title of ['Dark mode', 'Dark icons']) await submit(app, { title })
  const { context } = await openBrowser(t)
  const page = await context.newPage()
  await page.goto(`${app.home}?sort=new`)
  const search = page.getByRole('searchbox', { name: 'Search ideas' })
  await search.fill('dark')
  await page.waitForURL((url) => url.searchParams.get('q') === 'dark' && url.searchParams.get('sort') === 'new')
  await page.locator('.orders [aria-current]').getByText('New', { exact: true }).waitFor()

  await context.setOffline(true)
  const alert = page.getByRole('alert').getByText('The search did not work.')
  await search.fill('icons')
  await alert.waitFor()
  await search.press('Enter')
  await alert.waitFor()
  assert.equal(await search.inputValue(), 'icons')
  await look(page, 'portal-search-offline')
  await context.setOffline(false)
  await search.fill('dark m')
  await alert.waitFor({ state: 'detached' })
  await search.press('Enter')
  await page.waitForURL((url) => url.searchParams.get('q') === 'dark m' && url.searchParams.get('sort') === 'new')
})

test('who comes back from a similar idea finds what was typed', async (t) => {
  const app = await addPortal('Shop')
  await submit(app, { title: 'Dark mode for the editor' })
  const page = await visitor(t)
  await page.goto(`${app.home}new`)
  await page.getByLabel('Your idea').fill('dark editor')
  await page.getByLabel('Details').fill('My eyes hurt.')
  await page.getByRole('link', { name: 'Dark mode for the editor' }).click()
  await heading(page, 'Dark mode for the editor').waitFor()
  await page.goBack()
  await heading(page, 'Send an idea').waitFor()
  await page.waitForLoadState()
  assert.deepEqual(await page.locator('.send :is([name=title], textarea)').evaluateAll((all) => all.map(({ value }) => value)),
    ['dark editor', 'My eyes hurt.'])
})

for (const locale of ['en', 'ar']) {
  test(`the chosen filter is in sight, and the focus follows the eye, in ${locale}`, async (t) => {
    const app = await addPortal('Shop')
    const statuses = ['under_review', 'planned', 'in_progress', 'completed', 'declined']
    for (const status of statuses) await owner.call('requests-update', { id: (await submit(app, { title: status })).id, status })
    const page = await visitor(t, { viewport: { width: 390, height: 844 }, locale })
    await page.goto(`${app.home}?status=completed`)
    await page.waitForFunction(() => {
      const { left, right } = document.querySelector('.filter [aria-current]').getBoundingClientRect()
      return left >= 0 && right <= innerWidth
    })
    const places = await page.locator('.filter a').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left))
    const seen = places.toSorted((a, b) => locale === 'ar' ? b - a : a - b)
    assert.deepEqual(places, seen, 'the order of the focus is another one')
    await look(page, `portal-filter-${locale}`)
  })
}

test('keys lead through the list, and vote', async (t) => {
  const app = await addPortal('Shop')
  for (const title of ['One', 'Two', 'Three']) await submit(app, { title })
  const page = await visitor(t)
  await page.goto(`${app.home}?sort=new`)
  const { keyboard } = page
  const on = (title) => page.locator(':focus').getByText(title, { exact: true }).waitFor()
  const press = async (key, title) => (await keyboard.press(key), await on(title)) // a busy page is late
  for (const step of [['j', 'Three'], ['j', 'Two'], ['j', 'One'], ['j', 'One'], ['k', 'Two']]) await press(...step)
  await counted(page, async () => (await keyboard.press('v'), await unvotes(page, 'Two').waitFor()))
  await on('Two')
  await keyboard.press('Enter')
  await heading(page, 'Two').waitFor()
  await page.waitForLoadState() // before, no script listens for keys
  await counted(page, async () => (await keyboard.press('v'), await votes(page, 'Two').waitFor()))
  await page.getByLabel('Your comment').focus()
  await keyboard.type('v/?j')
  assert.equal(await page.getByLabel('Your comment').inputValue(), 'v/?j')
  await page.getByLabel('Your comment').blur()
  await keyboard.press('/')
  for (const vote of [unvotes, votes]) { // if the key before had left the page, these would not reach it
    await counted(page, async () => (await keyboard.press('v'), await vote(page, 'Two').waitFor()))
  }
  assert.equal(await page.getByLabel('Your comment').inputValue(), 'v/?j', 'what was written is lost')
  await page.getByLabel('Your comment').fill('')
  await page.getByLabel('Your comment').blur()
  await keyboard.press('/')
  const search = page.getByRole('searchbox', { name: 'Search ideas' })
  await search.and(page.locator(':focus')).waitFor()
  await search.blur()

  // A Russian layout has о in the place of j, and an Arabic one ؟ in that of ?.
  const presses = (key, code, shiftKey = false) => page.evaluate(([key, code, shiftKey]) => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, code, shiftKey, bubbles: true }))
  }, [key, code, shiftKey])
  await presses('о', 'KeyJ')
  await on('Three')
  await presses('؟', 'Slash', true)
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await keyboard.press('Escape')
  await search.focus()
  await search.blur()

  // They can be switched off, and on again.
  await keyboard.press('?')
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await dialog.getByText('Next and previous idea').waitFor()
  assert.deepEqual(await faults(page), [])
  await dialog.getByRole('checkbox', { name: 'Use these shortcuts' }).uncheck()
  await keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.reload()
  for (const key of ['j', '?']) await keyboard.press(key)
  assert.equal(await page.locator('.idea :focus').count() + await dialog.count(), 0)
  assert.equal(await search.inputValue(), '', 'the keys went into the search')
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await dialog.getByRole('checkbox', { name: 'Use these shortcuts' }).check()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await press('j', 'Three')
})

test('without scripts, everything works', async (t) => {
  const app = await addPortal('Shop', { portal: { moderation: 'anonymous' } })
  const dark = await submit(app, { title: 'Dark mode' })
  await submit(app, { title: 'Export as PDF' })
  await product(t, app, { id: 'u1', email: 'ada@example.com', name: 'Ada' })
  const page = await visitor(t, { javaScriptEnabled: false })
  await page.goto(app.home)
  await page.getByRole('searchbox', { name: 'Search ideas' }).fill('dark')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('heading', { name: 'Dark mode' }).waitFor()
  assert.equal(await page.getByRole('heading', { name: 'Export as PDF' }).count(), 0)
  assert.equal(await page.getByRole('link', { name: /Suggest “.dark/ }).getAttribute('href'), `/p/${app.slug}/new?title=dark`)
  await votes(page, 'Dark mode').click()
  await unvotes(page, 'Dark mode').waitFor()
  assert.match(page.url(), /\?q=dark/, 'the vote leads away from what was searched')

  await page.getByRole('link', { name: 'Dark mode' }).click()
  await page.getByLabel('Your comment').fill('At night, please.')
  await page.getByLabel('Your name').fill('Bob')
  await page.getByRole('button', { name: 'Send comment' }).click()
  await page.getByText('will appear once the team approves it').waitFor()
  assert.equal(await page.getByText('At night, please.').count(), 0, 'a held comment is shown')
  const { comments: [held] } = await owner.call('comments-held')
  await owner.call('comments-release', { id: held.id })
  await page.reload()
  await page.getByText('At night, please.').waitFor()
  assert.equal(await page.getByText('Bob').count(), 0, 'the name of somebody who is not signed in is shown')

  await signIn(page)
  assert.match(page.url(), new RegExp(`^${app.home}r/`), 'the way back leads elsewhere')
  await unvotes(page, 'Dark mode').waitFor() // the vote of the browser is now Ada's
  const { votes: given } = await owner.call('votes-list', { request_id: dark.id })
  assert.deepEqual(given.map((vote) => vote.external_id).filter(Boolean), ['u1'], JSON.stringify(given))
  await unvotes(page, 'Dark mode').click()
  await votes(page, 'Dark mode').waitFor()

  await page.getByRole('link', { name: 'Ideas', exact: true }).click()
  await page.getByRole('link', { name: 'Send an idea' }).click()
  await page.getByLabel('Your idea').fill('Keyboard shortcuts')
  await page.getByLabel('Details').fill('For everything.')
  await page.getByRole('button', { name: 'Send idea' }).click()
  await heading(page, 'Keyboard shortcuts').waitFor()
  await page.getByText(/By .Ada/).waitFor()
  await page.getByRole('link', { name: 'My ideas' }).click()
  await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
  assert.deepEqual(await page.context().cookies(), [], 'the browser still knows somebody')
})

test('a refused text comes back', async (t) => {
  const app = await addPortal('Shop', { portal: { sign_in_url: 'https://example.com/sign-in' } })
  const request = await submit(app, { title: 'Dark mode' })
  const page = await visitor(t, { javaScriptEnabled: false })
  await page.goto(`${app.home}r/${request.id}`)
  for (const [comments, says] of [['verified', 'Sign in first.'], ['off', 'comments are closed']]) {
    await owner.call('apps-update-settings', { id: app.id, settings: { portal: { comments } } })
    await page.getByLabel('Your comment').fill(`Refused with ${comments}.`)
    await page.getByRole('button', { name: 'Send comment' }).click()
    await page.getByRole('alert').getByText(says).waitFor()
    assert.equal(await page.getByLabel('Your comment').inputValue(), `Refused with ${comments}.`)
  }
  await page.goto(`${app.home}new`)
  await page.getByLabel('Your idea').fill('👍'.repeat(203))
  await page.getByRole('button', { name: 'Send idea' }).click()
  await page.getByText(/Characters to remove: .3/).waitFor()
  assert.equal(await page.getByLabel('Your idea').inputValue(), '👍'.repeat(203))
  await page.getByLabel('Your idea').fill('Export')
  await owner.call('apps-update-settings', { id: app.id, settings: { portal: { submit: 'off' } } })
  await page.getByRole('button', { name: 'Send idea' }).click()
  await page.getByRole('alert').getByText('Your idea was not sent').waitFor()
  assert.equal(await page.getByLabel('Your idea').inputValue(), 'Export')
})

// reach moves the focus with the tabulator key until it is on what a locator finds.
async function reach(page, target) {
  for (let n = 0; n < 60; n++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`the tabulator key does not reach ${target}`)
}

test('the keyboard alone is enough', async (t) => {
  const app = await addPortal('Shop')
  for (const title of ['Dark mode', 'Export as PDF']) await submit(app, { title })
  const page = await visitor(t)
  await page.goto(app.home)
  await page.keyboard.press('Tab')
  assert.equal(await page.locator(':focus').innerText(), 'Skip to the content')
  await page.keyboard.press('Enter')
  await reach(page, page.getByRole('searchbox', { name: 'Search ideas' }))
  await page.keyboard.type('dark')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\?q=dark/)
  await reach(page, votes(page, 'Dark mode'))
  await counted(page, () => page.keyboard.press('Space'))
  await unvotes(page, 'Dark mode').waitFor()
  await reach(page, page.getByRole('link', { name: 'Dark mode' }))
  await page.keyboard.press('Enter')
  await heading(page, 'Dark mode').waitFor()
  await reach(page, page.getByLabel('Your comment'))
  await page.keyboard.type('Yes, please.')
  await reach(page, page.getByRole('button', { name: 'Send comment' }))
  await page.keyboard.press('Enter')
  await page.getByText('Your comment is published.').waitFor()
  assert.equal(await page.locator(':focus').getAttribute('role'), 'status', 'the focus is not on what is new')
})

// full adds an app whose portal shows everything that a portal can show.
async function full() {
  const app = await addPortal('Shop & Søn', {
    widget: { primary_color: '#F5D90A' }, statuses: { planned: { label: 'Next', roadmap: true }, in_progress: { roadmap: true } },
    portal: { intro: 'Tell us what is missing.', tags: ['mobile'], names: 'verified', sign_in_url: 'https://example.com/sign-in' },
  })
  let idea
  for (const status of ['under_review', 'planned', 'in_progress', 'completed', 'declined']) {
    const description = `${'A long text that is shown in part. '.repeat(20)}\nhttps://example.com/${'long'.repeat(60)}`
    idea = await submit(app, { title: `An idea that is ${status}`, description })
    await owner.call('requests-update', { id: idea.id, status, tags: ['mobile'] })
  }
  await submit(app, { title: 'W'.repeat(200), description: 'لون داكن من فضلك' })
  const body = `## Soon\n\nWe *work* on it:\n\n- one\n- two\n\n\`code\` and https://example.com/${'news'.repeat(30)}`
  await owner.call('comments-create', { request_id: idea.id, body, visibility: 'public' })
  const entry = await publish(app, 'Faster search', body, ['New'])
  const names = [
    '', '?q=idea', '?q=nothingofthekind', '?status=planned', '?tag=mobile', '?sort=new', 'roadmap', 'changelog', `changelog/${entry.id}`,
    `r/${idea.id}`, 'new', 'new?title=An+idea', 'me', 'sign-in', 'nowhere',
  ]
  return { app, pages: names.map((name) => [name.replace(/[^a-z]+/g, '-').slice(0, 20), app.home + name]) }
}

for (const [width, locale] of [[1440, 'en'], [320, 'en'], [390, 'ar']]) {
  test(`axe finds nothing on any page at ${width} pixels in ${locale}`, locale === 'ar' ? {} : inProof, async (t) => {
    const { pages } = await full()
    const page = await visitor(t, { viewport: { width, height: 800 }, locale })
    for (const [name, address] of pages) {
      await page.goto(address)
      assert.equal(await page.locator('html').getAttribute('lang'), locale)
      await look(page, `portal-${name}-${width}`)
      if (!proof) continue
      await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
      assert.deepEqual(await faults(page), [], `${name}, forced colors`)
      await page.emulateMedia({ forcedColors: null, reducedMotion: 'reduce' })
    }
  })
}

// foreign finds what only markup of strangers can be.
const foreign = 'iframe, script:not([type="application/ld+json"], [src="/portal/portal.js"]), style, body > img, main img, [onload], [onerror], [onfocus], ' +
  '[srcdoc], a[href^="javascript:" i], a[href^="data:" i], a[href*="example.com"]'

test('text of strangers stays text', async (t) => {
  for (const payload of some(payloads, 2)) {
    const text = line(payload)
    const app = await addPortal(text, {
      statuses: { opened: { label: text.slice(0, 40), roadmap: true } },
      portal: { intro: payload, tags: [text.slice(0, 40).replaceAll(',', '')], names: 'verified', team_names: true },
    })
    await product(t, app, { id: text, email: 'ada@example.com', name: text })
    const page = await visitor(t)
    page.on('dialog', () => assert.fail('a dialog opens'))
    await page.addInitScript(() => addEventListener('securitypolicyviolation', ({ violatedDirective }) => {
      console.error(`refused ${violatedDirective}`)
    }))
    await page.goto(app.home)
    await signIn(page)
    await page.goto(`${app.home}new?title=${encodeURIComponent(payload)}`)
    await page.getByLabel('Your idea').fill(text)
    await page.getByLabel('Details').fill(`${payload}\n${payload}`)
    await page.getByRole('button', { name: 'Send idea' }).click()
    await heading(page, text).waitFor()
    await page.getByLabel('Your comment').fill(payload)
    await page.getByRole('button', { name: 'Send comment' }).click()
    await page.getByText('Your comment is published.').waitFor()
    const idea = page.url()
    const { requests: [{ id }] } = await owner.call('requests-list', { app_id: app.id })
    await owner.call('requests-update', { id, tags: [text.slice(0, 40).replaceAll(',', '')] })
    await owner.call('comments-create', { request_id: id, body: payload, visibility: 'public' })
    const entry = await publish(app, text, payload, [text.slice(0, 40)])
    const search = `?q=${encodeURIComponent(payload)}`
    const nowhere = `nowhere/${encodeURIComponent(payload)}`
    const names = ['', search, 'roadmap', 'changelog', `changelog/${entry.id}`, 'new', 'me', 'sign-in', nowhere]
    for (const address of [idea, ...names.map((name) => app.home + name)]) {
      await page.goto(address)
      assert.equal(await page.evaluate(() => window.hit), undefined, address)
      assert.deepEqual(await page.locator(foreign).evaluateAll((all) => all.map((element) => element.outerHTML)), [], address)
    }
    await page.goto(idea)
    const shown = await page.getByRole('main').innerText()
    assert.ok(shown.split(text).length > 4, `the payload is not shown: ${shown}`)
  }
})
