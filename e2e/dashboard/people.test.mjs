// Several people, several tabs, sessions that end, and a network that fails.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Caller, email, logIn, openBrowser, openRelay, password, submit, until } from './harness.mjs'

const owner = await Caller.logIn()
let app
before(async () => {
  app = await owner.addApp('Shop')
  for (const title of ['Maps', 'Prices in euro', 'Sound', 'Colours']) await submit(app, { title, email: 'a@example.com' })
  await owner.addUser('member', 'Grace Hopper')
})
const request = async (title) => (await owner.call('requests-list', { limit: 200 })).requests.find((one) => one.title === title)
// hurry lets time pass on a page with a clock of its own: what it does every few seconds it does now.
const hurry = (page, milliseconds = 5000) => page.clock.fastForward(milliseconds)
const row = (page, title) => page.getByRole('option', { name: new RegExp(title) })

test('two people at once: each sees what the other did, and neither overwrites it', async (t) => {
  const { context } = await openBrowser(t)
  await context.clock.install()
  const ada = await logIn(context)
  const grace = await logIn((await openBrowser(t)).context, '/', 'grace.hopper@example.com')
  for (const page of [ada, grace]) {
    await row(page, 'Sound').click()
    await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { name: 'Sound' }).waitFor()
  }
  await ada.keyboard.press('s')
  await ada.getByRole('dialog').waitFor()
  await ada.keyboard.press('3')
  await until(async () => (await request('Sound')).status === 'planned')
  await grace.keyboard.press('s') // of what she still sees
  await grace.getByRole('dialog').waitFor()
  await grace.keyboard.press('6')
  // Either she saw it before, and it is hers, or she is told.
  await until(async () => (await request('Sound')).status === 'declined' || (await grace.getByText('Someone else changed').count()) > 0)
  await hurry(ada)
  await until(async () => (await ada.locator('.inbox-panel').innerText()).includes((await request('Sound')).status === 'declined' ? 'Declined' : 'Planned'))

  // What arrives moves nothing until it is asked for.
  const first = await ada.getByRole('option').first().innerText()
  await submit(app, { title: 'A new one', email: 'b@example.com' })
  await hurry(ada)
  await ada.getByRole('button', { name: '1 new request' }).click()
  await row(ada, 'A new one').waitFor()
  assert.notEqual(await ada.getByRole('option').first().innerText(), first)
})

test('an access token that is over is replaced without a word', async (t) => {
  const relay = await openRelay(t)
  const { context } = await openBrowser(t, { at: relay.url })
  const page = await logIn(context)
  await row(page, 'Maps').waitFor()
  await expire(context, 'apps-list')
  relay.calls.length = 0
  await page.getByRole('link', { name: 'Apps' }).click()
  await page.getByRole('main').getByRole('link', { name: 'Shop' }).first().waitFor()
  assert.equal(await page.getByRole('alertdialog').count(), 0)
  assert.equal(relay.calls.filter((url) => url.endsWith('auth-refresh')).length, 1)
})

test('tabs of one browser ask for a session one after another', async (t) => {
  const relay = await openRelay(t)
  const { context } = await openBrowser(t, { at: relay.url })
  await logIn(context)
  let now = 0
  let most = 0
  await context.route('**/api/auth-refresh', async (route) => {
    most = Math.max(most, ++now)
    const response = await route.fetch({ maxRetries: 3 })
    now--
    await route.fulfill({ response })
  })
  const pages = await Promise.all(Array.from({ length: 4 }, () => context.newPage()))
  await Promise.all(pages.map((page) => page.goto('/')))
  await Promise.all(pages.map((page) => row(page, 'Maps').waitFor()))
  assert.equal(most, 1)

  // Logged out in one, nothing is left to be seen in the others; one login is for all.
  await pages[0].bringToFront() // Chromium draws tabs behind others once a second
  await pages[0].getByRole('button', { name: /Account/ }).click()
  await pages[0].getByRole('menuitem', { name: 'Log out' }).click()
  for (const page of pages) await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await pages[1].bringToFront()
  await pages[1].getByLabel('E-mail').fill(email)
  await pages[1].getByLabel('Password').fill(password)
  await pages[1].getByRole('button', { name: 'Log in', exact: true }).click()
  await row(pages[2], 'Maps').waitFor()
  await row(pages[1], 'Maps').waitFor()
})

test('a session that ends in the middle of a form loses nothing', async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context, '/', 'grace.hopper@example.com')
  await page.getByRole('button', { name: 'New request' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Title').fill('Written for a long time')
  await form.getByLabel('Description').fill('All of this matters.')
  const grace = await Caller.logIn('grace.hopper@example.com')
  for (const { id, current } of (await grace.call('sessions-list')).sessions) if (!current) await grace.call('sessions-revoke', { id })
  await form.getByRole('button', { name: /Create|Add|Write/ }).last().click()
  const login = page.getByRole('alertdialog', { name: 'Log in again' })
  await login.getByLabel('Password').fill(password)
  await login.getByRole('button', { name: 'Log in', exact: true }).click()
  await until(async () => (await request('Written for a long time'))?.description === 'All of this matters.')
  assert.equal((await owner.call('requests-list', { limit: 200 })).requests.filter(({ title }) => title === 'Written for a long time').length, 1)
})

test('the service goes away and comes back', async (t) => {
  const relay = await openRelay(t)
  const { context } = await openBrowser(t, { at: relay.url })
  await context.clock.install()
  const page = await logIn(context)
  await row(page, 'Colours').waitFor()
  await row(page, 'Colours').click()
  await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { name: 'Colours' }).waitFor()
  relay.cut = true
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('5')
  // Shown at once, and taken back with a word when it was not stored.
  await page.getByRole('region', { name: 'Notifications' }).getByText('Cannot reach Gatherkit.').waitFor()
  await until(async () => !/Completed/.test(await row(page, 'Colours').innerText()))
  await hurry(page)
  await page.getByText('Retrying…').waitFor()
  relay.cut = false
  await hurry(page, 10_000)
  await page.getByText('Retrying…').waitFor({ state: 'detached' })
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('5')
  await until(async () => (await request('Colours')).status === 'completed')
})

const logOut = async (page) => {
  await page.getByRole('button', { name: /Account/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
}
const logInAs = async (page, as) => {
  await page.getByLabel('E-mail').fill(as)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}
// The first of these calls finds that the access token is over.
const expire = async (context, operation) => {
  await context.route(`**/api/${operation}`, (route) => route.fulfill({ status: 401, contentType: 'application/json', body: JSON.stringify({ ok: false, error: { code: 'auth.token_expired', message: 'over' } }) }), { times: 1 })
}

test('logging out ends the session, although its access token is over', async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context)
  await expire(context, 'auth-logout')
  await logOut(page)
  await page.goto('/')
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
})

test('who comes next on the same page gets nothing of the one before', async (t) => {
  const { context, quiet } = await openBrowser(t)
  const page = await logIn(context, '/', 'grace.hopper@example.com')
  await row(page, 'Maps').click()
  const panel = page.getByRole('complementary', { name: 'Request details' })
  await panel.getByRole('textbox', { name: 'Comment' }).fill('Between Grace and herself')
  await row(page, 'Maps').click()
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('4')
  await until(async () => (await request('Maps')).status === 'in_progress')
  const { pathname, search } = new URL(page.url())

  await logOut(page)
  await logInAs(page, email)
  await row(page, 'Maps').waitFor()
  await page.keyboard.press('u')
  await quiet(page)
  assert.equal((await request('Maps')).status, 'in_progress', 'what somebody else did was undone')
  await page.goto(pathname + search)
  await panel.getByRole('heading', { name: 'Maps' }).waitFor()
  assert.equal(await panel.getByRole('textbox', { name: 'Comment' }).inputValue(), '')
})

test('what waits for somebody to log in again is not done by somebody else', async (t) => {
  const { context, quiet } = await openBrowser(t)
  const page = await logIn(context, '/', 'grace.hopper@example.com')
  await page.getByRole('button', { name: 'New request' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Title').fill('Of Grace alone')
  const grace = await Caller.logIn('grace.hopper@example.com')
  for (const { id, current } of (await grace.call('sessions-list')).sessions) if (!current) await grace.call('sessions-revoke', { id })
  await form.getByRole('button', { name: 'Create request' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Log in as someone else' }).click()
  await page.getByRole('heading', { name: 'Log in', exact: true }).waitFor()
  await logInAs(page, email)
  await row(page, 'Maps').waitFor()
  await quiet(page)
  assert.equal(await request('Of Grace alone'), undefined)
})

test('a page does not go on with the session of somebody else', async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context, '/', 'grace.hopper@example.com')
  await row(page, 'Maps').waitFor()
  await page.request.post('/api/auth-login', { headers: { 'X-Token-Transport': 'cookie' }, data: { email, password } })
  await expire(context, 'apps-list')
  await page.getByRole('link', { name: 'Apps' }).click()
  await page.getByRole('button', { name: `Account: ${(await owner.call('auth-me')).user.name}` }).waitFor()
})
