// Triage in the inbox, mostly with the keyboard.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inProof, some } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, submit, until } from './harness.mjs'

const owner = await Caller.logIn()
const list = async (filter) => (await owner.call('requests-list', { limit: 200, ...filter })).requests

test('twenty requests are triaged with the keyboard only', async (t) => {
  const app = await owner.addApp('Shop')
  for (let n = 1; n <= 20; n++) {
    await submit(app, { title: `Idea number ${n} about ${['maps', 'prices', 'colours', 'sound'][n % 4]}`, email: `p${n}@example.com` })
  }
  await submit(app, { title: 'Dark mode for the night', email: 'a@example.com' })
  await submit(app, { title: 'A dark mode for nights', email: 'b@example.com' })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, '/?view=all')
  const rows = page.getByRole('listbox', { name: 'Requests' })
  await rows.getByRole('option').first().waitFor()
  const key = async (...keys) => { for (const one of keys) await page.keyboard.press(one) }
  const says = (text) => page.getByRole('region', { name: 'Notifications' }).getByText(text).first().waitFor()
  const active = () => rows.evaluate((box) => document.getElementById(box.getAttribute('aria-activedescendant') ?? '')?.textContent)

  // Only in the dialog, because the list in the inbox has an option with that name, too.
  const offered = () => {
    const option = page.getByRole('option', { name: /Dark mode for the night/ })
    return page.getByRole('dialog').getByRole('option').first().and(option).waitFor()
  }

  // The two newest requests are similar. The first suggestion for merging one is the other.
  await key('j')
  if (!(await active()).includes('A dark mode')) await key('k')
  assert.match(await active(), /A dark mode for nights/)
  await key('m')
  await offered()
  await key('1')
  await says(/merged into “Dark mode for the night”/)
  assert.equal((await list({ status: 'duplicate' })).length, 1)
  assert.equal((await list({ query: 'dark mode' })).find((r) => r.status !== 'duplicate').votes, 2)

  // Undo the merge, and merge again.
  await key('u')
  await until(async () => (await list({ status: 'duplicate' })).length === 0)
  await key('m')
  await offered()
  await key('1')
  await until(async () => (await list({ status: 'duplicate' })).length === 1)

  // Filter by open requests: a row that gets another status leaves the list, and the next one is
  // selected.
  await key('Control+k')
  await page.getByRole('dialog').locator('input').fill('status open')
  await key('Enter')
  await page.waitForURL(/status=/)
  await rows.getByRole('option').first().waitFor()
  await until(async () => (await page.locator('.list-head').innerText()).includes('21 requests'))
  await rows.focus()
  await key('Home')
  for (let n = 0; n < 20; n++) {
    await key('s')
    await page.getByRole('dialog').waitFor()
    await key(['2', '3', '6'][n % 3])
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await until(async () => (await list({ status: 'opened' })).length === 1)
  assert.equal((await list({ status: 'under_review' })).length, 7)
  assert.equal((await list({ status: 'planned' })).length, 7)
  assert.equal((await list({ status: 'declined' })).length, 6)

  // Search, select several requests, and add a tag.
  await key('Control+k')
  await page.getByRole('dialog').locator('input').fill('clear filters')
  await key('Enter')
  await until(async () => !page.url().includes('status'))
  await key('/')
  await page.keyboard.type('maps')
  await page.waitForURL(/q=maps/)
  await until(async () => (await page.locator('.list-head').innerText()).includes('5 requests'))
  await key('Enter', 'Home', 'x', 'j', 'x', 'j', 'Shift+x')
  await page.getByText('3 selected').waitFor()
  await key('t')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('Maps!')
  await page.getByRole('option', { name: /Maps!/ }).waitFor()
  await key('Enter')
  await key('Escape')
  await until(async () => (await list({ tag: 'maps!' })).length === 3)

  // Assign a request.
  await key('Escape', 'a')
  await page.getByRole('dialog').waitFor()
  await key('ArrowDown', 'Enter')
  await until(async () => (await list({ tag: 'maps!' })).filter((r) => r.assignee_id).length >= 1)

  // An ETA is a quarter, a month or a day.
  const etas = async () => (await list({ tag: 'maps!' })).map((r) => r.eta).filter(Boolean)
  for (const [typed, eta, said] of [['q1 2031', '2031-Q1', /Q1 2031/], ['2031-02', '2031-02', /February 2031/], ['2031-02-03', '2031-02-03', /Feb 3, 2031/]]) {
    await key('e')
    await page.getByRole('dialog', { name: 'ETA' }).waitFor()
    await page.keyboard.type(typed)
    await page.getByRole('dialog').getByRole('option', { name: said }).waitFor()
    await key('Enter')
    await says(said)
    await until(async () => (await etas())[0] === eta)
  }

  // Delete and restore.
  const before = (await list()).length
  await key('#')
  await until(async () => (await list()).length === before - 1)
  await key('u')
  await until(async () => (await list()).length === before)

  // Open and close a request.
  await key('Enter')
  await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { name: /maps/ }).first().waitFor()
  await page.waitForURL(/request=/)
  await key('Escape')
  await until(async () => !page.url().includes('request='))

  await key('?')
  await page.getByRole('dialog').getByText('Next request').waitFor()
  await look(page, 'shortcuts')
  await key('Escape')
  assert.deepEqual(complaints, [])
})

test('single-key shortcuts can be switched off', async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context, '/account')
  await page.getByText('Single-key shortcuts').click()
  await page.getByRole('link', { name: 'Inbox' }).click()
  await page.getByRole('option').first().waitFor()
  await page.getByRole('listbox').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('s')
  await page.keyboard.press('?')
  assert.equal(await page.getByRole('dialog').count(), 0)
  await page.keyboard.press('Control+k') // not a single key, so it still works
  await page.getByRole('dialog').waitFor()
})

test('after commenting, a change of the request causes no conflict', inProof, async (t) => {
  const app = await owner.addApp('Comments')
  const { id } = await submit(app, { title: 'Talked about', email: 'c@example.com' })
  const { context } = await openBrowser(t)
  const page = await logIn(context, `/?request=${id}`)
  const panel = page.getByRole('complementary', { name: 'Request details' })
  const comment = panel.getByRole('textbox', { name: 'Comment', exact: true })
  await comment.fill('We do it.')
  await comment.press('Control+Enter')
  await panel.getByText('We do it.').first().waitFor()
  await until(async () => (await comment.inputValue()) === '')
  await page.getByRole('listbox', { name: 'Requests' }).focus()
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('3')
  const planned = async () => (await list({ app_id: app.id, status: 'planned' })).length
  await until(async () => (await planned()) === 1 || (await page.getByText('Someone else changed').count()) > 0)
  assert.equal(await planned(), 1)
})

test('text that is typed while a comment is being sent is not lost', inProof, async (t) => {
  const app = await owner.addApp('Slow')
  const { id } = await submit(app, { title: 'Written slowly', email: 'd@example.com' })
  const { context } = await openBrowser(t)
  const page = await logIn(context, `/?request=${id}`)
  const panel = page.getByRole('complementary', { name: 'Request details' })
  const comment = panel.getByRole('textbox', { name: 'Comment', exact: true })
  let go
  const slow = new Promise((resolve) => (go = resolve))
  await context.route('**/api/comments-create', async (route) => { await slow; await route.continue() })
  await comment.fill('The first')
  await comment.press('Control+Enter')
  await comment.press('End')
  await page.keyboard.type(' and the second')
  const written = await comment.inputValue()
  go()
  await panel.getByRole('list', { name: 'Comments' }).getByText('The first').waitFor()
  const { comments } = await owner.call('comments-list', { request_id: id })
  const lost = comments[0].body !== written && !(await comment.inputValue()).includes('and the second')
  assert.ok(!lost, `of ${written}, only ${comments[0].body} is left`)
})

test('a search finds requests in the inbox, and changing the folder ends it', async (t) => {
  const app = await owner.addApp('Searched')
  await submit(app, { title: 'Kaleidoscope', email: 'e@example.com' })
  const { context } = await openBrowser(t)
  const page = await logIn(context, `/?app=${app.id}&q=kaleidoscope`)
  await page.getByRole('option', { name: /Kaleidoscope/ }).waitFor()
  await page.getByRole('group', { name: 'Folder' }).getByRole('button', { name: /Bin/ }).click()
  await page.getByRole('heading', { name: /^Bin/ }).waitFor()
  await page.getByRole('heading', { name: 'No matching requests' }).waitFor()
  await page.getByRole('searchbox', { name: 'Search' }).fill('kaleidoscope')
  await page.getByRole('option', { name: /Kaleidoscope/ }).waitFor()
  await page.goto(`/?app=${app.id}&box=bin&q=kaleidoscope&status=unheard&assignee=nobody`)
  await page.getByRole('heading', { name: 'No matching requests' }).waitFor()
  assert.equal(new URL(page.url()).search, `?app=${app.id}&box=bin`)
})

test('empty boxes lead back to the inbox', inProof, async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context, '/?box=quarantine')
  await page.getByRole('heading', { name: 'No requests in quarantine' }).waitFor()
  await page.getByRole('link', { name: 'Back to inbox' }).click()
  await page.waitForURL((url) => url.pathname === '/' && !url.searchParams.has('box'))
})

test('requests that the user creates are not announced as new', async (t) => {
  const { context } = await openBrowser(t)
  await context.clock.install()
  const page = await logIn(context)
  await page.getByRole('option').first().waitFor()
  const asked = async () => {
    const answer = page.waitForResponse((response) =>
      response.url().endsWith('requests-list') && response.request().postData().includes('created_after'))
    await page.clock.fastForward(60_000)
    await answer
  }
  await asked()
  await page.getByRole('button', { name: 'New request' }).click()
  await page.getByRole('dialog').getByLabel('Title').fill('Heard on the phone')
  await page.getByRole('button', { name: 'Create request' }).click()
  await page.getByRole('option', { name: /Heard on the phone/ }).waitFor()
  await asked()
  await asked()
  assert.equal(await page.getByRole('button', { name: /^\d+ new request/ }).count(), 0)
})

test('drafts are kept when Escape closes the form', async (t) => {
  const app = await owner.addApp('Begun')
  const { id } = await submit(app, { title: 'Begun', email: 'f@example.com' })
  const { context } = await openBrowser(t)
  const page = await logIn(context, `/?request=${id}`)
  const panel = page.getByRole('complementary', { name: 'Request details' })
  const edit = panel.getByRole('button', { name: 'Edit title and description' })
  await edit.click()
  await page.keyboard.press('Escape') // closes the form, because nothing was written
  await edit.click()
  await panel.getByLabel('Description').fill('All that was said.')
  await page.keyboard.press('Escape')
  assert.equal(await panel.getByLabel('Description').inputValue(), 'All that was said.')
  await panel.getByRole('button', { name: 'Cancel' }).click()
  await edit.waitFor()

  const form = page.getByRole('dialog')
  await page.getByRole('button', { name: 'New request' }).click()
  await form.getByLabel('Title').fill('A long story')
  await form.getByLabel('Description').fill('It began so.')
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'New request' }).click()
  assert.equal(await form.getByLabel('Title').inputValue(), 'A long story')
  assert.equal(await form.getByLabel('Description').inputValue(), 'It began so.')
  await form.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'New request' }).click()
  assert.equal(await form.getByLabel('Title').inputValue(), '')
})

test('requests that were merged indirectly are shown, too', inProof, async (t) => {
  const app = await owner.addApp('Chain')
  for (const title of ['First of three', 'Second of three', 'Third of three']) await submit(app, { title, email: 'same@example.com' })
  const [third, second, first] = (await owner.call('requests-list', { app_id: app.id })).requests
  await owner.call('requests-merge', { id: first.id, into_id: second.id })
  await owner.call('requests-merge', { id: second.id, into_id: third.id })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/?request=${third.id}`)
  const merged = page.getByRole('region', { name: 'Merged requests' })
  await merged.getByText('First of three').waitFor()
  await merged.getByRole('button', { name: 'Unmerge Second of three' }).click()
  await page.getByRole('dialog', { name: 'Unmerge' }).getByRole('button', { name: 'Unmerge' }).click()
  await until(async () => (await owner.call('requests-get', { id: second.id })).request.merged_into_id === null)
  await merged.getByText('Second of three').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('a bulk change can be undone', async (t) => {
  const app = await owner.addApp('Many')
  for (const n of [1, 2, 3]) await submit(app, { title: `One of many ${n}`, email: `m${n}@example.com` })
  const planned = async () => (await list({ app_id: app.id, status: 'planned' })).length
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/?app=${app.id}`)
  await page.getByRole('option', { name: /One of many 1/ }).waitFor()
  await page.getByRole('listbox', { name: 'Requests' }).focus()
  for (const key of ['Home', 'x', 'j', 'x', 'j', 'x']) await page.keyboard.press(key)
  await page.getByText('3 selected').waitFor()
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('3')
  await until(async () => (await planned()) === 3)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('u')
  await until(async () => (await planned()) === 0)
  assert.deepEqual(complaints, [])
})

test('the tags of all matching requests are those that each, some or none has', async (t) => {
  const app = await owner.addApp('Tagged')
  for (const n of [1, 2, 3]) {
    const { id } = await submit(app, { title: `Tagged ${n}`, email: `t${n}@example.com` })
    await owner.call('requests-update', { id, tags: n === 1 ? ['Every', 'One'] : ['Every'] })
  }
  const other = await submit(await owner.addApp('Untagged'), { title: 'Elsewhere' })
  await owner.call('requests-update', { id: other.id, tags: ['Never'] })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/?app=${app.id}&view=all`)
  await page.getByRole('option', { name: /Tagged 1/ }).waitFor()
  await page.getByRole('listbox', { name: 'Requests' }).focus()
  await page.keyboard.press('Control+a')
  await page.getByText('3 selected').waitFor()
  await page.keyboard.press('t')
  const picker = page.getByRole('dialog', { name: 'Tags' })
  const box = (tag, state) => picker.getByRole('option', { name: tag }).locator(`[data-state=${state}]`).waitFor()
  await box('Every', 'all')
  await box('One', 'some')
  await box('Never', 'none')
  await look(page, 'triage-tags')
  await picker.getByRole('option', { name: 'Never' }).click()
  await picker.getByRole('option', { name: 'Every' }).click()
  await picker.getByRole('button', { name: 'Done' }).click()
  const tags = async () => (await list({ app_id: app.id })).map((one) => one.tags.join()).toSorted()
  await until(async () => JSON.stringify(await tags()) === '["Never","Never","One,Never"]')
  assert.deepEqual(complaints, [])
})

test('keys wait while a dialog that they are meant for loads', async (t) => {
  const app = await owner.addApp('Slow scripts')
  const { id } = await submit(app, { title: 'Stays open' })
  const { context, complaints } = await openBrowser(t)
  for (const [script, key, name, words] of [['help', 'Control+k', 'Command palette', 'smart'], ['details', 'n', 'New request', 'Dark mode']]) {
    let load
    let waits = false
    const loaded = new Promise((resolve) => { load = resolve })
    await context.route(`**/${script}-*.js`, async (route) => { waits = true; await loaded; await route.continue() })
    const page = await (script === 'help' ? logIn(context, `/?app=${app.id}`) : context.newPage())
    await page.goto(`/?app=${app.id}`)
    await page.getByRole('option', { name: /Stays open/ }).waitFor()
    await page.getByRole('listbox', { name: 'Requests' }).focus()
    await page.keyboard.press(key)
    await page.keyboard.type(words)
    assert.deepEqual(await page.getByRole('dialog').allInnerTexts(), [], `keys for ${name} opened something`)
    assert.ok(waits, `the script ${script} is not what the page loads`)
    load()
    await page.getByRole('dialog', { name }).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 1)
  }
  assert.equal((await owner.call('requests-get', { id })).request.status, 'opened')
  assert.deepEqual(complaints, [])
})

for (const when of some(['before', 'after'], 1)) {
  test(`after undo ${when} the answer, the keyboard is on the request that came back`, async (t) => {
    const app = await owner.addApp('Undone')
    for (const n of [1, 2, 3]) await submit(app, { title: `Row ${n}`, email: `r${n}@example.com` })
    const { context, complaints, quiet } = await openBrowser(t)
    let answer
    const answered = new Promise((resolve) => { answer = resolve })
    await context.route('**/api/requests-delete', async (route) => { await answered; await route.continue() })
    const page = await logIn(context, `/?app=${app.id}`)
    const row = page.getByRole('option', { name: /Row 3/ })
    await row.waitFor()
    const box = page.getByRole('listbox', { name: 'Requests' })
    await box.focus()
    await page.keyboard.press('Home')
    const on = async () => page.locator(`[id="${await box.getAttribute('aria-activedescendant')}"]`).innerText()
    assert.match(await on(), /Row 3/)
    await page.keyboard.press('#')
    await row.waitFor({ state: 'detached' })
    await until(async () => /Row 2/.test(await on()))
    if (when === 'after') {
      answer()
      await quiet(page)
    }
    const restored = page.waitForResponse('**/api/requests-restore')
    const undone = page.getByRole('region', { name: 'Notifications' }).getByText('Undone. “Row 3” is back from the bin.').waitFor()
    await page.keyboard.press('u')
    await page.keyboard.press('s')
    await page.getByRole('dialog', { name: 'Status' }).getByText('“Row 3”').waitFor()
    await undone
    assert.match(await on(), /Row 3/)
    answer()
    await restored
    await quiet(page)
    assert.match(await on(), /Row 3/)
    assert.equal((await list({ app_id: app.id })).length, 3)
    assert.deepEqual(complaints, [])
  })
}

test('a tag is created only when the known ones have loaded', inProof, async (t) => {
  const app = await owner.addApp('Tags')
  const { id } = await submit(app, { title: 'Tagged' })
  const other = await submit(app, { title: 'Other' })
  await owner.call('requests-update', { id: other.id, tags: ['performance'] })
  const { context, complaints } = await openBrowser(t)
  let load
  const loaded = new Promise((resolve) => { load = resolve })
  await context.route('**/api/tags-list', async (route) => { await loaded; await route.continue() })
  const page = await logIn(context, `/?app=${app.id}&request=${id}`)
  await page.getByRole('heading', { name: 'Tagged' }).waitFor()
  await page.keyboard.press('t')
  await page.getByRole('combobox', { name: 'Tags' }).fill('perf')
  await page.getByText('Loading tags…').waitFor()
  await page.keyboard.press('Enter')
  load()
  await page.getByRole('option', { name: 'performance' }).waitFor()
  assert.deepEqual(await page.getByRole('dialog', { name: 'Tags' }).getByRole('option').allInnerTexts(), ['performance', 'Create “perf”'])
  await page.getByRole('button', { name: 'Done' }).click()
  assert.deepEqual((await owner.call('requests-get', { id })).request.tags, [])
  assert.deepEqual(complaints, [])
})
