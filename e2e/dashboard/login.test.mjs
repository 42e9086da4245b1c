// Pages that need no login: the login page, invitations, and pages that do not exist.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inProof } from '../browser.mjs'
import { Caller, email, logIn, look, openBrowser, password, service } from './harness.mjs'

const owner = await Caller.logIn()
const narrow = { viewport: { width: 320, height: 640 } }
const token = (link) => link.split('#')[1]

test('the login page shows errors, and then opens the requested address', async (t) => {
  const { context, complaints } = await openBrowser(t)
  const page = await context.newPage()
  await page.goto('/insights?from=2026-01-01&to=2026-02-01')
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill('wrong')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('The e-mail or the password is wrong.').waitFor()
  await look(page, 'login')
  assert.equal(await page.getByLabel('E-mail').inputValue(), email)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Insights', level: 1 }).waitFor()
  assert.match(page.url(), /\/insights\?from=2026-01-01&to=2026-02-01$/)
  assert.deepEqual(complaints, [])
})

test('a password can be shown, without losing the place', inProof, async (t) => {
  const { context, complaints } = await openBrowser(t)
  const page = await context.newPage()
  await page.goto('/')
  const field = page.getByLabel('Password')
  await field.fill('correct horse')
  await field.evaluate((input) => input.setSelectionRange(3, 7))
  const place = () => field.evaluate((input) => [document.activeElement === input, input.selectionStart, input.selectionEnd])
  const attributes = () => field.evaluate((input) => [input.type, input.autocomplete, input.spellcheck])
  assert.deepEqual(await attributes(), ['password', 'current-password', false])
  await page.getByRole('button', { name: 'Show password' }).click()
  assert.deepEqual(await attributes(), ['text', 'current-password', false])
  assert.deepEqual(await place(), [true, 3, 7])
  await look(page, 'login-shown')
  await page.getByRole('button', { name: 'Hide password' }).click()
  assert.deepEqual(await attributes(), ['password', 'current-password', false])
  assert.deepEqual(await place(), [true, 3, 7])
  // With the keyboard, the focus stays on the button.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Hide password')
  assert.equal(await field.inputValue(), 'correct horse')
  assert.deepEqual(complaints, [])
})

test('the login page on a phone, and pages that do not exist', async (t) => {
  const { context, complaints } = await openBrowser(t, narrow)
  const page = await context.newPage()
  await page.goto('/')
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await look(page, 'login-320')
  await logIn(context)
  // A tab that waits at the login goes on when another one has logged in.
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await page.goto('/apps/')
  await page.getByRole('heading', { name: 'Apps', level: 1 }).waitFor()
  for (const address of ['/nothing', '/apps/of/nobody', '/team/audit/']) {
    await page.goto(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  await page.goto('/nothing/of/the/kind')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await look(page, 'not-found-320')
  await page.getByRole('link', { name: 'Go to inbox' }).click()
  await page.waitForURL((url) => url.pathname === '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  assert.deepEqual(complaints, [])
})

test('an invitation can be accepted, even if another user is logged in', async (t) => {
  const { link } = await owner.call('users-invite', { email: 'grace@example.com', name: 'Grace', role: 'member' })
  const { context, complaints } = await openBrowser(t, narrow)
  const page = await logIn(context)
  // The token of each link is removed from the address, and the page still works after a reload.
  await page.goto('/join#' + token(link) + 'x')
  await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  await page.goto('/join#' + token(link))
  for (const again of [false, true]) {
    if (again) await page.reload()
    await page.getByRole('heading', { name: 'Join Acme' }).waitFor()
    assert.equal(page.url(), `${service}/join`)
  }
  await page.goBack()
  assert.equal(page.url().includes('#'), false)
  await page.goForward()
  await page.getByRole('heading', { name: 'Join Acme' }).waitFor()
  assert.equal(await page.getByLabel('E-mail').inputValue(), 'grace@example.com')
  await page.getByLabel('Password').fill('short')
  await page.getByRole('button', { name: 'Show password' }).click()
  assert.equal(await page.getByLabel('Password').getAttribute('autocomplete'), 'new-password')
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByText('Password must have at least 10 characters.').waitFor()
  await look(page, 'join-320')
  await page.getByLabel('Your name').fill('Grace Hopper')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('button', { name: 'Account: Grace Hopper' }).waitFor()
  assert.equal(await page.evaluate(() => JSON.stringify({ ...sessionStorage }).includes('gjt_')), false)

  // The link works only once.
  const other = await openBrowser(t)
  const late = await other.context.newPage()
  await late.goto('/join#' + token(link))
  await late.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  await look(late, 'join-over')
  assert.deepEqual(complaints, [])
})

test('a recovery link sets a new password', async (t) => {
  const user = await owner.addUser('member', 'Linus')
  const { link } = await owner.call('users-recover', { id: user.id })
  const { context } = await openBrowser(t)
  const page = await context.newPage()
  await page.goto('/join#' + token(link))
  await page.getByRole('heading', { name: 'Set a new password' }).waitFor()
  await look(page, 'recover')
  await page.getByLabel('Password').fill('another long password')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByRole('button', { name: 'Account: Linus' }).waitFor()
  await Caller.logIn('linus@example.com', 'another long password')
})
