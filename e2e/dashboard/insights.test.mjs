// Insights: each number matches the list that it links to.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, test } from 'node:test'
import { inProof } from '../browser.mjs'
import { Caller, logIn, look, openBrowser } from './harness.mjs'

const day = (ago = 0) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
const statuses = ['opened', 'opened', 'opened', 'opened', 'under_review', 'planned', 'in_progress', 'completed', 'declined']
let ada, apps

before(async () => { ada = await Caller.logIn() })

// open opens a page and logs in.
async function open(t, address = '/insights', options = {}) {
  const { context, complaints } = await openBrowser(t, options)
  const page = await logIn(context, address)
  t.after(() => assert.deepEqual(complaints, []))
  return page
}

const tableOf = (page, title) => page.getByRole('region', { name: title, exact: true })

test('without any requests, the page links to the apps', async (t) => {
  const page = await open(t)
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
  await look(page, 'insights-first')
  await page.getByRole('link', { name: 'Go to apps' }).click()
  await page.waitForURL('**/apps')
})

test('every number is the total of the list that it links to', async (t) => {
  apps = [await ada.addApp('Website'), await ada.addApp('Shop <b>&amp;')]
  for (let i = 0; i < 27; i++) {
    const submitter = { email: `person${i}@example.com` }
    const { request } = await ada.call('requests-create', {
      app_id: apps[i % 3 ? 0 : 1].id, title: i ? `Idea ${i}` : 'Dark mode', status: statuses[i % statuses.length], submitter,
      tags: [['Design'], ['design', 'night & day'], []][i % 3],
    })
    if (i === 0) for (let n = 0; n < 4; n++) await ada.call('votes-add', { request_id: request.id, email: `voter${n}@example.com` })
    if (i === 1) await ada.call('votes-add', { request_id: request.id, email: 'voter1@example.com' })
    if (i < 2) await ada.call('comments-create', { request_id: request.id, body: 'Thank you.', visibility: 'public' })
  }
  const page = await open(t)
  const headline = page.locator('.headline')
  await headline.getByText('has 5 votes, 3 more than the next request.').waitFor()
  await headline.getByText(/^Trending: Idea 1$/).waitFor()
  assert.equal(await headline.getByRole('link').first().textContent(), 'Dark mode')
  const most = new URL(await headline.getByRole('link').first().evaluate(({ href }) => href)).searchParams
  assert.equal(most.get('from'), null, 'an old request cannot be what people want most')
  await look(page, 'insights')

  for (const toggle of await page.getByRole('button', { name: 'Show as table' }).all()) await toggle.click()
  await look(page, 'insights-tables')
  const titles = ['Requests over time', 'By status', 'By app', 'Top tags', 'Time to first response']
  for (const title of titles) {
    const rows = await tableOf(page, title).locator('tbody tr').evaluateAll((all) => all.map((row) => ({
      name: row.cells[0].textContent, n: Number(row.cells[1].textContent), href: row.querySelector('a')?.href,
    })))
    assert.ok(rows.length > 1, title)
    if (title !== 'Top tags') assert.equal(rows.reduce((sum, { n }) => sum + n, 0), 27, title)
    for (const { name, n, href } of rows.filter(({ href }) => href)) {
      const asked = new URL(href).searchParams
      const filter = {
        app_id: asked.get('app'), tag: asked.get('tag'), status: JSON.parse(asked.get('status')),
        created_after: asked.get('from'), created_before: asked.get('to'),
      }
      assert.equal((await ada.call('requests-list', { ...filter, limit: 1 })).total_count, n, `${title}, ${name}`)
    }
  }
  const voted = await tableOf(page, 'Most wanted, not completed or declined').locator('tbody tr').evaluateAll((all) => all.map((row) => row.innerText.split(/\t/)))
  assert.deepEqual(voted.slice(0, 2), [['Dark mode', '5', 'Open'], ['Idea 1', '2', 'Open']])
  const answered = await tableOf(page, 'Time to first response').locator('tbody tr td:nth-of-type(1)').allTextContents()
  const { by_answer: expected } = await ada.call('requests-stats')
  assert.deepEqual(answered.map(Number), expected.map(({ requests }) => requests))
})

test('the chart over time can be used with the keyboard', async (t) => {
  const page = await open(t, '/insights')
  const chart = page.locator('.time-link')
  await chart.focus()
  await page.keyboard.press('End')
  const status = page.locator('.time-readout')
  assert.match(await status.textContent(), /: 27 requests$/)
  await page.keyboard.press('ArrowLeft')
  assert.match(await status.textContent(), /: 0 requests$/)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.pathname === '/')
  assert.equal(new URL(page.url()).searchParams.get('from'), `${day()}T00:00:00Z`)
})

test('range and app are in the address and apply to the export', async (t) => {
  const page = await open(t, `/insights?from=${day(6)}&to=${day()}`)
  assert.ok(await page.getByRole('radio', { name: '7 days' }).isChecked())
  await page.getByRole('button', { name: /All apps/ }).click()
  await page.getByRole('option', { name: 'Shop <b>&amp;' }).click()
  await page.getByText('9 requests received').waitFor()
  assert.equal(new URL(page.url()).searchParams.get('app'), apps[1].id)
  await page.reload()
  await page.getByText('9 requests received').waitFor()
  for (const [item, lines] of [['Export CSV', 10], ['Export JSON Lines', 9]]) {
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: item }).click()
    const text = await readFile(await (await download).path(), 'utf8')
    assert.equal(text.trim().split(/\r?\n/).length, lines, item)
  }
  await page.getByText('30 days', { exact: true }).click()
  await page.waitForURL((url) => !url.searchParams.has('from'))
})

test('numbers that leave out changes say so, and are read again', async (t) => {
  const page = await open(t, '/account')
  let exact = false
  await page.route('**/api/requests-stats', async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    await route.fulfill({ response, json: { ...answer, result: { ...answer.result, exact: exact && answer.result.exact } } })
  })
  await page.getByRole('link', { name: 'Insights' }).click()
  await page.getByText('At least 27 requests received').waitFor()
  await page.getByText('The latest changes are still being counted.').waitFor()
  await look(page, 'insights-behind')
  exact = true
  await page.getByText('At least 27 requests received').waitFor({ state: 'hidden' })
  await page.getByText('27 requests received').waitFor()
})

test('a custom range is validated, and an empty range shows a message', inProof, async (t) => {
  const page = await open(t, '/insights', { viewport: { width: 320, height: 640 }, hasTouch: true })
  await page.getByRole('heading', { name: 'By status' }).waitFor()
  await look(page, 'insights-narrow')
  await page.getByText('Custom range', { exact: true }).click()
  await page.getByLabel('Start date').fill(day(400))
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('The range can have at most 366 days.').waitFor()
  await look(page, 'insights-custom-range')
  await page.getByLabel('End date').fill(day(390))
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('heading', { name: 'No requests in this range' }).waitFor()
  await page.getByText('has 5 votes, 3 more than the next request.').waitFor() // of all time
  await look(page, 'insights-none')
  await page.getByRole('link', { name: '12 months' }).click()
  await page.getByText('27 requests received').waitFor()
  assert.match(await page.locator('.chart-card-wide').first().innerText(), /By week/)
})

test('after an error, the page shows the message and can try again', inProof, async (t) => {
  const page = await open(t, '/account')
  const error = { code: 'api.internal', message: 'Something went wrong on our side.' }
  await page.route('**/api/requests-stats', (route) => route.fulfill({ status: 500, json: { ok: false, error } }))
  await page.getByRole('link', { name: 'Insights' }).click()
  await page.getByText('Something went wrong on our side.').waitFor()
  await look(page, 'insights-failed')
  await page.unroute('**/api/requests-stats')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('27 requests received').waitFor()
})

test('the headline names what is still to be decided or built', async (t) => {
  const app = await ada.addApp('Atlas')
  const made = {}
  for (const [status, votes] of [['declined', 5], ['completed', 4], ['in_progress', 3], ['opened', 2]]) {
    const { request } = await ada.call('requests-create', { app_id: app.id, title: `Wish, ${status}`, status, submitter: { name: 'Ada' } })
    for (let n = 1; n < votes; n++) await ada.call('votes-add', { request_id: request.id, email: `atlas${n}@example.com` })
    made[status] = request.id
  }
  const page = await open(t, `/insights?app=${app.id}`)
  const headline = page.locator('.headline')
  await headline.getByText('Wish, in_progress has 3 votes, 1 more than the next request.').waitFor()
  await headline.getByText(/^Trending: Wish, opened$/).waitFor()
  await headline.getByRole('link').first().click()
  await page.getByRole('option').first().waitFor()
  assert.match(await page.getByRole('option').first().innerText(), /Wish, in_progress/)
  for (const [status, says] of [['in_progress', 'Wish, opened has 2 votes.'], ['opened', 'There are no open requests.']]) {
    await ada.call('requests-update', { id: made[status], status: 'completed' })
    await page.goto(`/insights?app=${app.id}`)
    await headline.getByText(says).waitFor()
  }
  await look(page, 'insights-closed')
  const { request } = await ada.call('requests-create', { app_id: app.id, title: 'The next one' })
  await page.goto(`/insights?app=${app.id}`)
  await headline.getByText('There is only one open request.').waitFor()
  const another = await ada.call('requests-create', { app_id: app.id, title: 'Another' })
  await page.reload()
  await headline.getByText('No request stands out yet.').waitFor()
  await ada.call('requests-delete', { id: another.request.id })
  await ada.call('requests-delete', { id: request.id })
})
