// One's own account: the password, the sessions, and what a browser remembers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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

test('a fault is shown at its field, and nothing typed is lost', async (t) => {
  const page = await open(t)
  await look(page, 'account')
  await change(page, 'something else', another)
  await page.getByText('This is not your current password.').waitFor()
  await change(page, password, 'short')
  await page.getByText('The new password must be 10 to 1,024 bytes long.').waitFor()
  await look(page, 'account-faults')
  assert.equal(await page.getByLabel('New password').inputValue(), 'short')
})

test('sessions end one by one, or all others at once', async (t) => {
  const [mine, other, third] = [await open(t), await open(t), await open(t, password, { viewport: { width: 320, height: 640 }, userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1' })]
  await look(third, 'account-narrow')
  await mine.reload()
  await mine.getByRole('button', { name: 'Log out Safari on iPhone' }).click()
  await mine.getByText('Session ended.').waitFor()
  await third.reload()
  await third.getByRole('heading', { name: 'Log in' }).waitFor()
  await logIn(third.context(), '/account') // of which the list on the page does not know
  await mine.getByRole('button', { name: 'Log out all other sessions' }).click()
  await mine.getByRole('button', { name: 'Log out all other sessions' }).waitFor({ state: 'detached' })
  for (const page of [other, third]) {
    await page.reload()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
  }
  await mine.getByRole('button', { name: 'Log out', exact: true }).click()
  await mine.getByRole('heading', { name: 'Log in' }).waitFor()
})

test('a session that ends in the middle of a form loses no input', async (t) => {
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
  // the call goes on by itself
  await other.getByText('Password changed. Your other sessions have ended.').waitFor()
})

test('appearance and shortcuts are remembered by the browser', async (t) => {
  const page = await open(t, password, { colorScheme: 'light' })
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await ground()
  await page.getByText('Dark', { exact: true }).click()
  assert.notEqual(await ground(), light)
  await page.getByText('Single-key shortcuts').click()
  await page.reload()
  await page.getByText('This session').waitFor()
  assert.notEqual(await ground(), light)
  assert.equal(await page.getByRole('switch', { name: /Single-key shortcuts/ }).isChecked(), false)
  await page.getByText('System', { exact: true }).click()
  assert.equal(await ground(), light)
})
