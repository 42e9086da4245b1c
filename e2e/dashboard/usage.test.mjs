// What the account has used on each day.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Caller, logIn, look, openBrowser, submit } from './harness.mjs'

test('an admin sees what the account uses', async (t) => {
  const owner = await Caller.logIn()
  await submit(await owner.addApp('Shop'), { title: 'Dark mode' })
  const { context, complaints } = await openBrowser(t)
  t.after(() => assert.deepEqual(complaints, []))
  const page = await logIn(context, '/team')
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
  // The service adds its counts every 20 seconds, and the page follows.
  const total = page.getByRole('region', { name: 'Usage by day' }).getByRole('row', { name: /^Total/ })
  await total.waitFor()
  await page.waitForFunction(() => {
    const cells = [...document.querySelectorAll('tfoot td')].map((cell) => Number(cell.textContent.replace(',', '')))
    return cells[0] >= 2 && cells[1] >= 1
  })
  assert.deepEqual(await page.getByRole('columnheader').allTextContents(), ['Day', 'Calls', 'Requests', 'Files', 'Mails'])
  const today = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const days = await page.locator('tbody').getByRole('rowheader').allTextContents()
  assert(days.includes(today.format(Date.now())) || days.includes(today.format(Date.now() - 3600_000)), days.join())
  await look(page, 'usage')
})
