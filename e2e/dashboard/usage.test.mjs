// What the account has used on each day, and its quotas.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Caller, logIn, look, openBrowser, submit } from './harness.mjs'

const owner = await Caller.logIn()

test('an admin sees what the account uses', async (t) => {
  await submit(await owner.addApp('Shop'), { title: 'Dark mode' })
  const { context, complaints } = await openBrowser(t)
  t.after(() => assert.deepEqual(complaints, []))
  const page = await logIn(context, '/team')
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
  const quotas = page.getByRole('region', { name: 'Quotas' })
  assert.deepEqual(await quotas.getByRole('rowheader').allTextContents(), [
    'Requests this month', 'Stored files', 'People in the team', 'Apps', 'Webhooks', 'Mails today', 'People verified today',
  ])
  const apps = (await owner.call('apps-list')).apps.length
  assert.deepEqual(await quotas.getByRole('row', { name: /^Apps/ }).getByRole('cell').allTextContents(), [String(apps), '1,000'])
  assert.equal(await quotas.getByRole('row', { name: /^Requests/ }).getByRole('cell').last().textContent(), 'No limit')
  // The service adds its counts every 20 seconds, and the page follows.
  const total = page.getByRole('region', { name: 'Usage by day' }).getByRole('row', { name: /^Total/ })
  await total.waitFor()
  await page.waitForFunction(() => {
    const cells = [...document.querySelectorAll('tfoot td')].map((cell) => Number(cell.textContent.replace(',', '')))
    return cells[0] >= 2 && cells[1] >= 1
  })
  const byDay = page.getByRole('region', { name: 'Usage by day' })
  assert.deepEqual(await byDay.getByRole('columnheader').allTextContents(), ['Day', 'Calls', 'Requests', 'Files', 'Mails'])
  const today = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const days = await byDay.locator('tbody').getByRole('rowheader').allTextContents()
  assert(days.includes(today.format(Date.now())) || days.includes(today.format(Date.now() - 3600_000)), days.join())
  await look(page, 'usage')
})

// near answers with quotas of which much is used.
async function near(t, quotas, as) {
  const { context, complaints } = await openBrowser(t)
  t.after(() => assert.deepEqual(complaints, []))
  let asked = 0
  await context.route('**/api/account-usage', (route) => {
    asked++
    return route.fulfill({ json: { ok: true, result: { days: [], quotas } } })
  })
  const page = await logIn(context, '/team', as)
  await page.getByRole('list', { name: 'Team' }).waitFor()
  return { page, asked: () => asked }
}

test('admins see that a quota is almost used up, and what happens then', async (t) => {
  const { page } = await near(t, [
    { name: 'requests', used: 800, most: 1000 },
    { name: 'files', used: 12_000_000_000, most: 10_000_000_000 },
    { name: 'members', used: 3, most: 4 },
    { name: 'apps', used: 0, most: 0 },
    { name: 'webhooks', used: 16, most: 20 },
    { name: 'mails', used: 5000, most: null },
    { name: 'verified', used: 80, most: 100 },
  ])
  assert.deepEqual(await page.getByRole('status').getByRole('heading').allTextContents(), [
    '800 of 1,000 requests submitted this month', '12.0 GB of 10.0 GB of files stored', '16 of 20 webhooks', '80 of 100 people verified today',
  ])
  await page.getByText('Files beyond the quota are refused. Requests without files are stored.').waitFor()
  await page.getByRole('link', { name: /^Team.*a quota is almost used up$/ }).waitFor()
  for (const width of [1440, 1024, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await look(page, `quotas-near-${width}`)
  }
  await page.setViewportSize({ width: 1440, height: 800 })
  await page.getByRole('link', { name: 'Usage' }).click()
  const quotas = page.getByRole('region', { name: 'Quotas' })
  const cells = (name) => quotas.getByRole('row', { name }).getByRole('cell').allTextContents()
  assert.deepEqual(await cells(/^Stored files/), ['12.0 GB', '10.0 GB'])
  assert.deepEqual(await cells(/^Mails/), ['5,000', 'No limit'])
  await page.getByText('Nothing used yet').waitFor()
  for (const width of [1440, 1024, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await look(page, `quotas-${width}`)
  }
})

test('nobody is told while quotas suffice, and members do not ask', async (t) => {
  const enough = [{ name: 'requests', used: 799, most: 1000 }, { name: 'mails', used: 5000, most: 5000 }]
  const { page } = await near(t, enough)
  await page.getByText('5,000 of 5,000 mails written today').waitFor()
  assert.equal(await page.getByText('a quota is almost used up').count(), 0)
  await owner.addUser('member', 'Mira')
  const mira = await near(t, enough, 'mira@example.com')
  assert.equal(await mira.page.getByRole('status').getByRole('heading').count(), 0)
  assert.equal(mira.asked(), 0)
})
