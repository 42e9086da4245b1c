// Changes that are made while the service does not answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inProof, some } from '../browser.mjs'
import { look, until } from './harness.mjs'
import { events, lose, nothingWaits, owner, refuse, row, says, setStatus, shop, shows, waiting } from './waiting.mjs'

test('changes made offline wait, and are sent in their order', async (t) => {
  const { context, page, calls, at, now, complaints } = await shop(t, ['Maps', 'Prices', 'Sound'])
  await context.setOffline(true)
  await at('Maps')
  await setStatus(page, 'planned')
  await waiting(page, 'Offline, 1 change waiting')
  await at('Prices')
  await setStatus(page, 'completed')
  await waiting(page, 'Offline, 2 changes waiting')
  await at('Maps')
  await setStatus(page, 'declined')
  await waiting(page, 'Offline, 3 changes waiting')
  await shows(page, 'Maps', 'Declined')
  await shows(page, 'Prices', 'Completed')
  await look(page, 'offline')

  // The browser asks before it closes the page.
  const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })])
  assert.equal(dialog.type(), 'beforeunload')
  await dialog.dismiss()

  calls.length = 0
  await context.setOffline(false)
  await until(async () => (await now('Maps')).status === 'declined')
  await nothingWaits(page)
  assert.deepEqual((await now('Prices')).status, 'completed')
  assert.deepEqual(calls.map((call) => /"status":"(\w+)"/.exec(call)[1]).filter((status, n, all) => status !== all[n - 1]),
    ['planned', 'completed', 'declined'])
  await says(page, 'All changes are saved.')

  // The latest change can be undone.
  await page.keyboard.press('u')
  await until(async () => (await now('Maps')).status === 'planned')
  assert.deepEqual(complaints, [])
})

test('undo takes a change out that waits', async (t) => {
  const { context, page, quiet, at, now, ids, complaints } = await shop(t, ['Maps', 'Prices'])
  await context.setOffline(true)
  await at('Maps')
  await setStatus(page, 'planned')
  await waiting(page, 'Offline, 1 change waiting')
  await at('Prices')
  await page.keyboard.press('Delete')
  await waiting(page, 'Offline, 2 changes waiting')
  assert.equal(await row(page, 'Prices').count(), 0)
  await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click()
  await waiting(page, 'Offline, 1 change waiting')
  await row(page, 'Prices').waitFor()
  await shows(page, 'Maps', 'Planned')
  // With the key, the keyboard is on the request that comes back.
  await at('Prices')
  await page.keyboard.press('Delete')
  await waiting(page, 'Offline, 2 changes waiting')
  await page.keyboard.press('u')
  await page.keyboard.press('s')
  await page.getByRole('dialog', { name: 'Status' }).getByText('“Prices”').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await waiting(page, 'Offline, 1 change waiting')
  await at('Maps')
  await setStatus(page, 'declined')
  await waiting(page, 'Offline, 2 changes waiting')
  await page.keyboard.press('u')
  await waiting(page, 'Offline, 1 change waiting')
  await shows(page, 'Maps', 'Planned')
  await page.keyboard.press('u')
  await nothingWaits(page)
  await shows(page, 'Maps', 'Open')
  await context.setOffline(false)
  await at('Prices')
  await setStatus(page, 'completed')
  await until(async () => (await now('Prices')).status === 'completed')
  await quiet(page)
  assert.equal((await now('Maps')).status, 'opened')
  assert.deepEqual(await events(ids.Maps, 'request.updated'), [])
  assert.deepEqual(complaints, [])
})

test('all kinds of changes wait', async (t) => {
  const { context, page, at, now, ids, app, complaints } = await shop(t, ['Maps', 'Prices', 'Sound', 'Colours', 'Shapes'])
  await page.keyboard.press('a') // reads the people
  await page.getByRole('dialog').getByRole('option', { name: /Grace/ }).waitFor()
  await page.keyboard.press('Escape')
  await context.setOffline(true)
  await at('Maps')
  await page.keyboard.press('a')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('Grace')
  await page.getByRole('dialog').getByRole('option', { name: /Grace/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('t')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('api')
  await page.getByRole('option', { name: /api/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.keyboard.press('e')
  await page.getByRole('dialog', { name: 'ETA' }).waitFor()
  await page.keyboard.type('2031-02')
  await page.getByRole('dialog').getByRole('option', { name: 'February 2031' }).waitFor()
  await page.keyboard.press('Enter')
  await waiting(page, 'Offline, 3 changes waiting')

  // Two at once.
  await at('Prices')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await setStatus(page, 'planned')
  await page.keyboard.press('e')
  await page.getByRole('dialog', { name: 'ETA' }).waitFor()
  await page.keyboard.type('2031-03')
  await page.getByRole('dialog').getByRole('option', { name: 'March 2031' }).waitFor()
  await page.keyboard.press('Enter')
  await waiting(page, 'Offline, 5 changes waiting')
  await page.keyboard.press('m')
  await page.getByRole('dialog').getByRole('option', { name: /Prices/ }).click()
  await waiting(page, 'Offline, 6 changes waiting')
  await page.keyboard.press('Escape')
  await page.getByText('2 selected').waitFor({ state: 'detached' })
  await at('Colours')
  await page.keyboard.press('Delete')
  await waiting(page, 'Offline, 7 changes waiting')

  await context.setOffline(false)
  await nothingWaits(page)
  await until(async () => (await owner.call('requests-list', { app_id: app.id, box: 'bin' })).total_count === 1)
  const maps = await now('Maps')
  assert.deepEqual([maps.tags, maps.eta, Boolean(maps.assignee_id)], [['api'], '2031-02', true])
  const [prices, sound] = [await now('Prices'), await now('Sound')]
  assert.deepEqual([prices.status, prices.eta, sound.eta, sound.merged_into_id], ['planned', '2031-03', '2031-03', ids.Prices])
  assert.equal((await events(ids.Maps, 'request.updated')).length, 3)
  assert.deepEqual(complaints, [])
})

for (const [status, code] of some([[503, 'api.unavailable'], [429, 'api.rate_limited']], 1)) {
  test(`after ${status}, changes wait for the time that the service asks for`, async (t) => {
    const { context, page, calls, at, now } = await shop(t, ['Maps'], { clock: true })
    const again = await refuse(context, 'requests-update', { status, code, headers: { 'Retry-After': '120' } })
    await at('Maps')
    await setStatus(page, 'planned')
    await waiting(page, 'Offline, 1 change waiting')
    await again()
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await page.clock.fastForward(60_000)
    const polled = page.waitForResponse('**/api/requests-list')
    await page.clock.fastForward(6_000)
    await polled
    assert.equal(calls.length, 1, 'the page did not wait')
    await waiting(page, 'Offline, 1 change waiting')
    await page.clock.fastForward(60_000)
    await until(async () => (await now('Maps')).status === 'planned')
    await nothingWaits(page)
  })
}

test('without Retry-After, the page tries again after pauses, and when it is online', inProof, async (t) => {
  const { context, page, calls, at, now } = await shop(t, ['Maps'], { clock: true })
  const again = await refuse(context, 'requests-update')
  await at('Maps')
  await setStatus(page, 'planned')
  await waiting(page, 'Offline, 1 change waiting')
  for (let tries = 2; tries <= 6; tries++) {
    await page.clock.fastForward(40_000)
    await until(() => calls.length >= tries)
  }
  // It does not wait for the end of a pause when the browser is online again.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000))
  await again()
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await until(async () => (await now('Maps')).status === 'planned')
  await nothingWaits(page)
})

test('only what the service refuses is reverted', async (t) => {
  const { context, page, at, now, ids } = await shop(t, ['Maps', 'Prices', 'Sound', 'Colours'])
  await context.setOffline(true)
  for (const title of ['Maps', 'Prices', 'Sound', 'Colours']) {
    await at(title)
    await setStatus(page, 'planned')
  }
  await waiting(page, 'Offline, 4 changes waiting')
  await owner.call('requests-update', { id: ids.Maps, status: 'declined' })
  await owner.call('requests-update', { id: ids.Prices, tags: ['theirs'] })
  await owner.call('requests-delete', { id: ids.Sound })
  await context.setOffline(false)
  await says(page, 'Someone else changed “Maps”. You now see their change; yours was not saved.')
  await says(page, 'Someone else deleted “Sound”. Your change was not saved.')
  await until(async () => (await now('Colours')).status === 'planned')
  await nothingWaits(page)
  await shows(page, 'Maps', 'Declined')
  await shows(page, 'Prices', 'Planned')
  await row(page, 'Sound').waitFor({ state: 'detached' })
  assert.deepEqual([(await now('Prices')).status, (await now('Prices')).tags], ['planned', ['theirs']])
})

test('a refusal names the request, and the changes after it continue', inProof, async (t) => {
  const { context, page, at, now } = await shop(t, ['Maps', 'Prices'])
  await context.setOffline(true)
  await at('Maps')
  await setStatus(page, 'planned')
  await setStatus(page, 'completed')
  await waiting(page, 'Offline, 2 changes waiting')
  const forbid = (times) => context.route('**/api/requests-update', (route) => route.fulfill({
    status: 403, json: { ok: false, error: { code: 'auth.forbidden', message: 'Your role does not allow this.' } },
  }), { times })
  await forbid(1)
  await context.setOffline(false)
  await says(page, 'Your change of “Maps” was not saved. Your role does not allow this.')
  // The second change continues from what the service has.
  await until(async () => (await now('Maps')).status === 'completed')
  await shows(page, 'Maps', 'Completed')
  assert.equal(await page.getByText('Someone else changed').count(), 0)

  // If both are refused, the request is as before both.
  await nothingWaits(page)
  await context.setOffline(true)
  await at('Prices')
  await setStatus(page, 'planned')
  await setStatus(page, 'completed')
  await waiting(page, 'Offline, 2 changes waiting')
  await forbid(2)
  await context.setOffline(false)
  await until(async () => (await page.getByText('Your change of “Prices” was not saved.').count()) === 2)
  await shows(page, 'Prices', 'Open')
})

test('a change whose answer was lost is made once', async (t) => {
  const { context, page, at, now, ids, app, calls } = await shop(t, ['Maps', 'Prices', 'Sound', 'Colours', 'Shapes', 'Words'])
  const failed = page.getByText(/not saved|Cannot reach/)
  const binned = async () => (await owner.call('requests-list', { app_id: app.id, box: 'bin' })).total_count
  const repeated = async (operation, change, holds) => {
    calls.length = 0
    const again = await lose(context, operation)
    await change()
    await waiting(page, 'Offline, 1 change waiting')
    await again()
    await nothingWaits(page)
    await until(holds)
    assert.ok(calls.filter((call) => call.startsWith(operation + ' ')).length > 1, 'the call was not repeated')
    assert.equal(await failed.count(), 0)
  }

  await at('Maps')
  await repeated('requests-update', () => setStatus(page, 'planned'), async () => (await now('Maps')).status === 'planned')
  assert.equal((await events(ids.Maps, 'request.updated')).length, 1)
  await page.keyboard.press('u')
  await until(async () => (await now('Maps')).status === 'opened')

  await at('Words')
  await repeated('requests-delete', () => page.keyboard.press('Delete'), async () => (await binned()) === 1)
  await row(page, 'Words').waitFor({ state: 'detached' })

  // Several at once: the service refuses to delete what is in the bin.
  await at('Colours')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await repeated('requests-bulk-update', () => page.keyboard.press('Delete'), async () => (await binned()) === 3)
  assert.equal((await events(ids.Maps, 'request.updated')).length, 2)
  await page.keyboard.press('u')
  await until(async () => (await binned()) === 1)
  await row(page, 'Colours').waitFor()

  // All that match a filter, which does not match after the change.
  await page.goto(`/?app=${app.id}&status=opened`)
  await row(page, 'Maps').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').locator('input').fill('select all matching')
  await page.keyboard.press('Enter')
  await page.getByText('5 selected').waitFor()
  await repeated('requests-bulk-update', () => setStatus(page, 'completed'),
    async () => (await owner.call('requests-list', { app_id: app.id, status: 'completed' })).total_count === 5)
  await page.keyboard.press('u')
  await until(async () => (await owner.call('requests-list', { app_id: app.id, status: 'opened' })).total_count === 5)
})

test('a change that may have been made without an answer can be undone', inProof, async (t) => {
  const { context, page, at, now } = await shop(t, ['Maps', 'Prices'])
  const again = await lose(context, 'requests-update')
  await at('Maps')
  await setStatus(page, 'planned')
  await waiting(page, 'Offline, 1 change waiting')
  assert.equal((await now('Maps')).status, 'planned')
  await page.keyboard.press('u')
  await nothingWaits(page)
  await shows(page, 'Maps', 'Open')
  await again()
  await until(async () => (await now('Maps')).status === 'opened')
  await shows(page, 'Maps', 'Open')
})

test('undo during a call shows at once, and undoes only what the service made', inProof, async (t) => {
  const { context, page, quiet, calls, at, now, complaints } = await shop(t, ['Maps', 'Prices', 'Sound'])
  const failed = page.getByText(/not saved|Someone else/)
  const hold = async (operation, finish) => {
    let answer
    const answered = new Promise((resolve) => { answer = resolve })
    await context.route(`**/api/${operation}`, async (route) => { await answered; await finish(route) }, { times: 1 })
    return answer
  }
  const json = { ok: false, error: { code: 'auth.forbidden', message: 'Your role does not allow this.' } }
  for (const [finish, sent] of [[(route) => route.continue(), 2], [(route) => route.fulfill({ status: 403, json }), 1]]) {
    calls.length = 0
    const answer = await hold('requests-update', finish)
    await at('Maps')
    await setStatus(page, 'planned')
    await shows(page, 'Maps', 'Planned')
    await page.keyboard.press('u')
    await shows(page, 'Maps', 'Open')
    await until(() => calls.length === 1)
    answer()
    await until(() => calls.length === sent)
    await quiet(page)
    assert.deepEqual([calls.length, (await now('Maps')).status, await failed.count()], [sent, 'opened', 0])
    await shows(page, 'Maps', 'Open')
  }

  // Several at once. The change after it continues from what it leaves.
  const answer = await hold('requests-bulk-update', (route) => route.continue())
  await at('Prices')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await setStatus(page, 'planned')
  await page.keyboard.press('u')
  await shows(page, 'Prices', 'Open')
  await page.keyboard.press('Escape')
  await at('Sound')
  await setStatus(page, 'declined')
  await shows(page, 'Sound', 'Declined')
  answer()
  await until(async () => (await now('Sound')).status === 'declined')
  await quiet(page)
  assert.deepEqual([(await now('Prices')).status, await failed.count()], ['opened', 0])
  await shows(page, 'Prices', 'Open')
  await shows(page, 'Sound', 'Declined')
  assert.deepEqual(complaints, [])
})

test('what waits is not overwritten by what the page reads', async (t) => {
  const { context, page, at, now, ids, app } = await shop(t, ['Maps', 'Prices', 'Sound'], { clock: true })
  const again = await refuse(context, 'requests-{update,delete}', { headers: { 'Retry-After': '3600' } })
  await at('Prices')
  await page.keyboard.press('Delete')
  await waiting(page, 'Offline, 1 change waiting')
  await at('Maps')
  await setStatus(page, 'planned')
  await waiting(page, 'Offline, 2 changes waiting')
  // Others change these requests and another one, and the page asks for changes.
  await owner.call('requests-update', { id: ids.Maps, title: 'Maps of theirs' })
  await owner.call('requests-update', { id: ids.Prices, title: 'Prices of theirs' })
  await owner.call('requests-update', { id: ids.Sound, status: 'declined' })
  await page.clock.fastForward(6_000)
  await shows(page, 'Sound', 'Declined')
  await shows(page, 'Maps of theirs', 'Planned')
  assert.equal(await row(page, 'Prices').count(), 0)
  // So do other lists, and the page of a request.
  await page.getByRole('searchbox', { name: 'Search' }).fill('theirs')
  await page.waitForURL(/q=theirs/)
  await shows(page, 'Maps of theirs', 'Planned')
  await page.locator('.list-head').getByText('1 request', { exact: true }).waitFor()
  assert.equal(await row(page, 'Prices').count(), 0)
  await row(page, 'Maps').click()
  const panel = page.getByRole('complementary', { name: 'Request details' })
  await panel.getByRole('heading', { name: 'Maps of theirs' }).waitFor()
  await panel.getByText('Planned').first().waitFor()
  await again()
  await page.clock.fastForward(3_600_000)
  await until(async () => (await now('Maps')).status === 'planned')
  await until(async () => (await owner.call('requests-list', { app_id: app.id, box: 'bin' })).total_count === 1)
})
