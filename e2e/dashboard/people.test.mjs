// Several users and tabs, sessions that end, and network failures.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { inProof } from '../browser.mjs'
import { Caller, email, logIn, openBrowser, openRelay, password, submit, until } from './harness.mjs'

const owner = await Caller.logIn()
let app
before(async () => {
  app = await owner.addApp('Shop')
  for (const title of ['Maps', 'Prices in euro', 'Sound', 'Colours']) await submit(app, { title, email: 'a@example.com' })
  await owner.addUser('member', 'Grace Hopper')
})
const request = async (title) => (await owner.call('requests-list', { limit: 200 })).requests.find((one) => one.title === title)
// hurry moves the fake clock of a page ahead, so that it runs its periodic tasks now.
const hurry = (page, milliseconds = 5000) => page.clock.fastForward(milliseconds)
const row = (page, title) => page.getByRole('option', { name: new RegExp(title) })

test('two users at once see the changes of each other and do not overwrite them', async (t) => {
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
  await grace.keyboard.press('s') // on the version that she sees
  await grace.getByRole('dialog').waitFor()
  await grace.keyboard.press('6')
  // Either she had seen the change, and hers is stored, or she gets a message.
  await until(async () => (await request('Sound')).status === 'declined' || (await grace.getByText('Someone else changed').count()) > 0)
  await hurry(ada)
  await until(async () => {
    const { status } = await request('Sound')
    return (await ada.locator('.inbox-panel').innerText()).includes(status === 'declined' ? 'Declined' : 'Planned')
  })

  // A new request appears only after a click, so that the list does not move.
  const first = await ada.getByRole('option').first().innerText()
  await submit(app, { title: 'A new one', email: 'b@example.com' })
  await hurry(ada)
  await ada.getByRole('button', { name: '1 new request' }).click()
  await row(ada, 'A new one').waitFor()
  assert.notEqual(await ada.getByRole('option').first().innerText(), first)
})

test('an expired access token is replaced silently', async (t) => {
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

test('tabs of one browser refresh the session one after the other', async (t) => {
  const relay = await openRelay(t)
  const { context } = await openBrowser(t, { at: relay.url })
  await logIn(context)
  const pages = await Promise.all(Array.from({ length: 4 }, () => context.newPage()))
  await Promise.all(pages.map((page) => page.goto('/')))
  await Promise.all(pages.map((page) => row(page, 'Maps').waitFor()))
  assert.equal(relay.most['/api/auth-refresh'], 1)

  // A logout in one tab applies to all tabs, and so does a login.
  await pages[0].bringToFront() // Chromium draws background tabs only once per second
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

test('a request is not lost if the session ends while it is written', async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context, '/', 'grace.hopper@example.com')
  await page.getByRole('button', { name: 'New request' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Title').fill('Written for a long time')
  await form.getByLabel('Description').fill('All of this matters.')
  const grace = await Caller.logIn('grace.hopper@example.com')
  for (const { id, current } of (await grace.call('sessions-list')).sessions) if (!current) await grace.call('sessions-revoke', { id })
  await form.getByLabel('Description').press('Control+Enter')
  const login = page.getByRole('alertdialog', { name: 'Log in again' })
  await login.getByLabel('Password').fill(password)
  await login.getByRole('button', { name: 'Log in', exact: true }).click()
  await until(async () => (await request('Written for a long time'))?.description === 'All of this matters.')
  const { requests } = await owner.call('requests-list', { limit: 200 })
  assert.equal(requests.filter(({ title }) => title === 'Written for a long time').length, 1)
})

test('the service becomes unreachable and reachable again', async (t) => {
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
  await page.keyboard.press('2') // it stays in the list
  // The change is shown at once, and sent when the service is there again.
  await page.getByText('Offline, 1 change waiting').waitFor()
  await hurry(page)
  await page.getByText('Retrying…').waitFor()
  assert.match(await row(page, 'Colours').innerText(), /Under review/)
  relay.cut = false
  await hurry(page, 40_000)
  await page.getByText('Retrying…').waitFor({ state: 'detached' })
  await until(async () => (await request('Colours')).status === 'under_review')
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
// expire answers the next call of an operation as if the access token had expired.
const expire = async (context, operation) => {
  const json = { ok: false, error: { code: 'auth.token_expired', message: 'expired' } }
  await context.route(`**/api/${operation}`, (route) => route.fulfill({ status: 401, json }), { times: 1 })
}

test('logging out ends the session even if the access token has expired', inProof, async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context)
  await expire(context, 'auth-logout')
  await logOut(page)
  await page.goto('/')
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
})

test('the next user of the same page gets nothing of the previous user', async (t) => {
  const { context, quiet } = await openBrowser(t)
  const page = await logIn(context, '/', 'grace.hopper@example.com')
  await row(page, 'Maps').click()
  const panel = page.getByRole('complementary', { name: 'Request details' })
  await panel.getByRole('textbox', { name: 'Comment' }).fill('Between Grace and herself')
  await row(page, 'Maps').click()
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('2')
  await until(async () => (await request('Maps')).status === 'under_review')
  const { pathname, search } = new URL(page.url())

  await logOut(page)
  await logInAs(page, email)
  await row(page, 'Maps').waitFor()
  await page.keyboard.press('u')
  await quiet(page)
  assert.equal((await request('Maps')).status, 'under_review', 'the change of the previous user was undone')
  await page.goto(pathname + search)
  await panel.getByRole('heading', { name: 'Maps' }).waitFor()
  assert.equal(await panel.getByRole('textbox', { name: 'Comment' }).inputValue(), '')
})

test('a call that waits for a user to log in again is not made as another user', inProof, async (t) => {
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

test('a page does not continue with the session of another user', inProof, async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context, '/', 'grace.hopper@example.com')
  await row(page, 'Maps').waitFor()
  await page.request.post('/api/auth-login', { headers: { 'X-Token-Transport': 'cookie' }, data: { email, password } })
  await expire(context, 'apps-list')
  await page.getByRole('link', { name: 'Apps' }).click()
  await page.getByRole('button', { name: `Account: ${(await owner.call('auth-me')).user.name}` }).waitFor()
})
