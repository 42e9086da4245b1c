// What others do shows within a second, without polling.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Caller, logIn, openBrowser, openRelay, submit, until } from './harness.mjs'

const owner = await Caller.logIn()
const app = {}

before(async () => {
  Object.assign(app, await owner.addApp('Website'))
  for (let n = 0; n < 5; n++) await submit(app, { title: `Idea ${n}` })
})

const list = (page) => page.getByRole('listbox', { name: 'Requests' })
const row = (page, title) => page.getByRole('option', { name: new RegExp(`^${title},`) })

// counted returns the paths that pages of a context call.
function counted(context) {
  const calls = []
  context.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/')) calls.push(pathname.slice(5))
  })
  return calls
}

// following waits until a page waits for events.
async function following(calls) {
  await until(() => calls.filter((name) => name === 'events-list').length >= 2)
}

test('a change of a colleague shows within a second, in the list and in the open request', async (t) => {
  const mine = await openBrowser(t)
  const calls = counted(mine.context)
  const page = await logIn(mine.context, `/?app=${app.id}`)
  await row(page, 'Idea 1').click()
  await page.getByRole('heading', { name: 'Idea 1', level: 2 }).waitFor()
  await following(calls)
  const theirs = await openBrowser(t)
  const colleague = await logIn(theirs.context, `/?app=${app.id}`)
  await row(colleague, 'Idea 1').waitFor()
  await list(colleague).focus()
  await row(colleague, 'Idea 1').click()
  await colleague.keyboard.press('s')
  await colleague.getByRole('dialog').waitFor()
  const began = performance.now()
  await colleague.keyboard.press('3')
  await row(page, 'Idea 1').and(page.getByRole('option', { name: /Planned/ })).waitFor()
  const took = performance.now() - began
  assert.ok(took < 30_000, 'the page has polled')
  t.diagnostic(`another browser shows the change after ${Math.round(took)} ms`)
  await page.getByRole('region', { name: 'Request', exact: true }).getByText('Planned').first().waitFor()
  assert.deepEqual(mine.complaints, [])
})

test('while nothing happens, tabs read nothing, and one waits for all', async (t) => {
  const { context } = await openBrowser(t)
  const relay = await openRelay(t)
  const first = await logIn(context, `${relay.url}/?app=${app.id}`)
  await row(first, 'Idea 1').waitFor()
  await until(() => relay.calls.filter((url) => url === '/api/events-list').length >= 2)
  const second = await context.newPage()
  await second.goto(`${relay.url}/?app=${app.id}`)
  await row(second, 'Idea 1').waitFor()
  const waits = () => relay.calls.filter((url) => url === '/api/events-list').length
  const before = waits()
  await until(() => waits() >= before + 1) // the second tab has heard that there is a feed
  relay.calls.length = 0
  await until(() => waits() >= 1)
  const reads = relay.calls.filter((url) => url === '/api/requests-list' || url === '/api/requests-get')
  assert.ok(reads.length <= 4, `in 10 s, tabs read ${reads.length} times`) // the totals of views, every 30 s
  assert.equal(relay.most['/api/events-list'], 1, 'several tabs wait')
  await submit(app, { title: 'One more' })
  for (const page of [first, second]) {
    await page.bringToFront()
    await page.getByRole('button', { name: '1 new request' }).waitFor()
  }
})

test('when the feed fails, the page asks by itself', async (t) => {
  const { context } = await openBrowser(t)
  await context.route('**/api/events-list', (route) => route.abort())
  const page = await logIn(context, `/?app=${app.id}`)
  await row(page, 'Idea 2').waitFor()
  const { requests } = await owner.call('requests-list', { app_id: app.id, query: 'Idea 2' })
  await owner.call('requests-update', { id: requests[0].id, status: 'declined' })
  await row(page, 'Idea 2').and(page.getByRole('option', { name: /Declined/ })).waitFor()
})
