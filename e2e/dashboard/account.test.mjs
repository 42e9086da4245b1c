// The user's own account: the password, the sessions, and settings stored in the browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inProof } from '../browser.mjs'
import { logIn, look, openBrowser, password } from './harness.mjs'

const another = 'battery horse staple correct'

async function open(t, secret = password, options = {}) {
  const { context } = await openBrowser(t, options)
  const page = await logIn(context, '/account', undefined, secret)
  await page.getByText('This session').waitFor()
  return page
}

async function change(page, from, to) {
  await page.getByLabel('Current password').fill(from)
  await page.getByLabel('New password').fill(to)
  await page.getByRole('button', { name: 'Change password' }).click()
}

test('errors are shown at their fields, and input is kept', async (t) => {
  const page = await open(t)
  await look(page, 'account')
  await change(page, 'something else', another)
  await page.getByText('This is not your current password.').waitFor()
  await change(page, password, 'short')
  await page.getByText('The new password must have at least 10 characters.').waitFor()
  await page.getByRole('button', { name: 'Show new password' }).click()
  assert.equal(await page.getByLabel('New password').getAttribute('type'), 'text')
  assert.equal(await page.getByLabel('Current password').getAttribute('type'), 'password')
  await look(page, 'account-errors')
  assert.equal(await page.getByLabel('New password').inputValue(), 'short')
})

test('sessions can be ended one by one, or all others at once', async (t) => {
  const userAgent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 ' +
    '(KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1'
  const phone = { viewport: { width: 320, height: 640 }, userAgent }
  const [mine, other, third] = [await open(t), await open(t), await open(t, password, phone)]
  await look(third, 'account-narrow')
  await mine.reload()
  await mine.getByRole('button', { name: 'Log out Safari on iPhone' }).click()
  await mine.getByText('Session ended.').waitFor()
  await third.reload()
  await third.getByRole('heading', { name: 'Log in' }).waitFor()
  await logIn(third.context(), '/account') // the list on the page does not show this session
  await mine.getByRole('button', { name: 'Log out all other sessions' }).click()
  await mine.getByRole('button', { name: 'Log out all other sessions' }).waitFor({ state: 'detached' })
  for (const page of [other, third]) {
    await page.reload()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
  }
  await mine.getByRole('button', { name: 'Log out', exact: true }).click()
  await mine.getByRole('heading', { name: 'Log in' }).waitFor()
})

test('input is kept if the session ends while a form is filled in', inProof, async (t) => {
  const [mine, other] = [await open(t), await open(t)]
  await other.getByLabel('Current password').fill(another)
  await other.getByLabel('New password').fill(password)
  await change(mine, password, another)
  await mine.getByText('Password changed. Your other sessions have ended.').waitFor()
  await other.getByRole('button', { name: 'Change password' }).click()
  const dialog = other.getByRole('alertdialog')
  await dialog.getByLabel('Password').fill(another)
  await look(other, 'account-expired')
  await dialog.getByRole('button', { name: 'Log in', exact: true }).click()
  // After the login, the dashboard repeats the call.
  await other.getByText('Password changed. Your other sessions have ended.').waitFor()
})

test('the browser remembers appearance and shortcuts', async (t) => {
  const page = await open(t, password, { colorScheme: 'light' })
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await background()
  await page.getByText('Dark', { exact: true }).click()
  assert.notEqual(await background(), light)
  await page.getByText('Single-key shortcuts').click()
  await page.reload()
  await page.getByText('This session').waitFor()
  assert.notEqual(await background(), light)
  assert.equal(await page.getByRole('switch', { name: /Single-key shortcuts/ }).isChecked(), false)
  await page.getByText('System', { exact: true }).click()
  assert.equal(await background(), light)
})
