// Who outside hears of a change, changes that are quiet, links to hand out, and answers of the submitter.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { before, test } from 'node:test'
import { inProof, post } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, screenshots, service, submit, until } from './harness.mjs'
import { events, nothingWaits, owner, row, says, setStatus, shop, waiting } from './waiting.mjs'

let app
before(async () => {
  app = await owner.addApp('Ideas', { sharing: 'all' })
  await owner.addUser('member', 'Max Member')
  await owner.addUser('viewer', 'Vera Viewer')
})

// outside calls the service like a browser that shows the widget or the page of a link.
const outside = (operation, params, of = app) => post(service, operation, params, { 'X-API-Key': of.api_key })
const newReader = () => Date.now().toString(16).padStart(12, '0') + randomBytes(26).toString('hex')
const unread = async (reader) => (await outside('widget-news', { reader })).result.unread

// ask submits a request as Ada Lovelace, for which other browsers vote.
async function ask(title, { voters = 0, name = 'Ada Lovelace' } = {}) {
  const reader = newReader()
  const { id } = await submit(app, { title, reader, ...(name && { name }) })
  for (let n = 0; n < voters; n++) {
    const { ok } = await outside('widget-vote', { request_id: id, voter: crypto.randomUUID(), reader: newReader() })
    assert.ok(ok)
  }
  return { id, reader }
}
const reply = async (asked, body) => {
  const { ok, error } = await outside('widget-reply', { reader: asked.reader, request_id: asked.id, body })
  assert.ok(ok, error?.code)
}
const request = async (id) => (await owner.call('requests-get', { id })).request
const details = (page) => page.getByRole('complementary', { name: 'Request details' })
const history = (page) => details(page).getByRole('region', { name: 'History' })
const quietly = (page) => page.getByRole('switch', { name: 'Don’t notify anyone' })

// open opens a request. Its clipboard can be read.
async function open(t, id, { as, ...options } = {}) {
  const opened = await openBrowser(t, options)
  t.after(() => assert.deepEqual(opened.complaints, []))
  await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const page = await logIn(opened.context, `/?view=all&request=${id}`, as)
  await details(page).getByRole('heading', { level: 2 }).first().waitFor()
  return { ...opened, page }
}

// everywhere checks a page in both color schemes and on narrow screens, and makes screenshots.
async function everywhere(page, name, part) {
  for (const width of [1440, 1024, 390, 320]) {
    await page.setViewportSize({ width, height: 900 })
    await part.scrollIntoViewIfNeeded()
    await look(page, `${name}-${width}`)
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
    if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}-${width}-forced.png`) })
    await page.emulateMedia({ forcedColors: 'none', reducedMotion: 'reduce' })
  }
  await page.setViewportSize({ width: 1280, height: 800 })
}

test('a status says who will see it, and the history who was told', async (t) => {
  const asked = await ask('Dark mode', { voters: 2 })
  const { page, quiet } = await open(t, asked.id)
  const picker = page.getByRole('dialog', { name: 'Status' })
  await details(page).getByRole('button', { name: 'Change Status' }).click()
  await picker.getByText('Ada Lovelace and 2 voters will see this', { exact: true }).waitFor()
  assert.equal(await quietly(page).isChecked(), false)
  await quiet(page)
  await everywhere(page, 'audience-status', picker)
  await page.keyboard.press('3')
  await history(page).getByText('changed the status from Open to Planned. 3 people were told.').waitFor()
  assert.equal(await unread(asked.reader), 1)

  // The next one is quiet, by the keyboard alone.
  await page.keyboard.press('s')
  await picker.waitFor()
  await page.keyboard.press('Tab')
  await until(() => quietly(page).evaluate((input) => document.activeElement === input))
  await page.keyboard.press('Space')
  assert.equal(await quietly(page).isChecked(), true)
  await page.keyboard.press('5')
  await picker.waitFor({ state: 'detached' })
  await history(page).getByText('changed the status from Planned to Completed. Nobody was told.').waitFor()
  const { result } = await outside('widget-my-requests', { reader: asked.reader, seen_until: new Date().toISOString() })
  assert.deepEqual([result.requests[0].status, await unread(asked.reader)], ['completed', 0])

  // Quiet is only for that change, but an undo is always quiet.
  await page.keyboard.press('u')
  await until(async () => (await request(asked.id)).status === 'planned')
  await history(page).getByText('changed the status from Completed to Planned. Nobody was told.').waitFor()
  await page.keyboard.press('s')
  await picker.waitFor()
  assert.equal(await quietly(page).isChecked(), false)
  await page.keyboard.press('Escape')
  await picker.waitFor({ state: 'detached' })
  assert.equal(await unread(asked.reader), 0)
})

test('nothing is said of people where nobody outside can see a change', inProof, async (t) => {
  const { id } = await submit(app, { title: 'From an old widget', name: 'Ada' })
  const { page } = await open(t, id)
  await page.keyboard.press('s')
  const picker = page.getByRole('dialog', { name: 'Status' })
  await picker.getByText('No customer will be notified', { exact: true }).waitFor()
  await page.keyboard.press('3')
  await history(page).getByText('changed the status from Open to Planned.').waitFor()
  assert.doesNotMatch(await history(page).innerText(), /told/)
})

test('nothing moves when the audience arrives, and the focus stays', async (t) => {
  const { id } = await ask('Slow', { voters: 1 })
  const { context, page } = await open(t, id)
  await page.keyboard.press('Escape')
  await page.getByRole('listbox', { name: 'Requests' }).focus()
  let answer
  const held = new Promise((resolve) => { answer = resolve })
  await page.reload()
  await row(page, 'Slow').waitFor()
  await context.route('**/api/requests-get', async (route) => { await held; await route.continue() })
  await page.getByRole('listbox', { name: 'Requests' }).focus()
  await page.keyboard.press('Home')
  while (!(await row(page, 'Slow').getAttribute('class')).includes('item-active')) await page.keyboard.press('j')
  await page.keyboard.press('s')
  const picker = page.getByRole('dialog', { name: 'Status' })
  await picker.waitFor()
  await page.keyboard.press('Tab')
  await until(() => quietly(page).evaluate((input) => document.activeElement === input))
  const places = () => picker.evaluate((dialog) => [dialog, ...dialog.querySelectorAll('input, [role=option]')].map((one) => {
    const { top, left, width, height } = one.getBoundingClientRect()
    return [top, left, width, height].join()
  }))
  const before = await places()
  answer()
  await picker.getByText('Ada Lovelace and 1 voter will see this').waitFor()
  assert.deepEqual(await places(), before)
  assert.ok(await quietly(page).evaluate((input) => document.activeElement === input))
})

test('a public comment says who will see it, and can be quiet', async (t) => {
  const asked = await ask('Maps', { voters: 2 })
  const { page, quiet } = await open(t, asked.id)
  const panel = details(page)
  const field = panel.getByRole('textbox', { name: 'Comment', exact: true })
  const seen = panel.locator('.comment-form').getByText('Ada Lovelace will see this', { exact: true }) // voters do not see comments
  await field.fill('A secret')
  assert.deepEqual([await quietly(page).count(), await seen.count()], [0, 0])
  const visible = panel.getByRole('radio', { name: 'Public' })
  await quiet(page) // what is above the form has arrived
  await visible.focus()
  const { y } = await visible.boundingBox()
  await page.keyboard.press('Space')
  await seen.waitFor()
  assert.equal((await visible.boundingBox()).y, y, 'the choice has moved')
  await quiet(page)
  await everywhere(page, 'audience-comment', seen)
  await field.fill('We plan it.')
  await panel.getByRole('button', { name: 'Reply publicly' }).click()
  await history(page).getByText('wrote a public comment. 1 person was told.').waitFor()
  assert.equal(await unread(asked.reader), 1)

  assert.equal(await field.inputValue(), 'A secret', 'the internal comment is lost')
  await visible.focus()
  await page.keyboard.press('Space')
  await quietly(page).focus()
  await page.keyboard.press('Space')
  await field.fill('By the way.')
  await panel.getByRole('button', { name: 'Reply publicly' }).click()
  await history(page).getByText('wrote a public comment. Nobody was told.').waitFor()

  // Whether to tell is asked again when an internal comment becomes public, but not for edits of a public one.
  await panel.getByText('By the way.').waitFor()
  await panel.getByRole('button', { name: 'Edit your comment' }).last().click()
  await panel.locator('.comment').getByText('Ada Lovelace will see this').waitFor()
  assert.equal(await quietly(page).count(), 0)
  await page.keyboard.press('Escape')
  await field.fill('Internal')
  await panel.getByRole('button', { name: 'Comment', exact: true }).click()
  await panel.locator('.comment').getByText('Internal', { exact: true }).nth(1).waitFor()
  await panel.getByRole('button', { name: 'Edit your comment' }).last().click()
  await panel.locator('.comment').getByRole('radio', { name: 'Public' }).focus()
  await page.keyboard.press('Space')
  await quietly(page).focus()
  await page.keyboard.press('Space')
  await panel.getByRole('button', { name: 'Save' }).click()
  await until(async () => (await events(asked.id, 'comment.updated')).some(({ after }) => after.quiet))
  const { comments } = await owner.call('comments-list', { request_id: asked.id })
  assert.deepEqual(comments.map(({ visibility }) => visibility), ['public', 'public', 'public'])
})

test('changes of several requests, merges and unmerges can be quiet', async (t) => {
  const asked = [await ask('Bulk one'), await ask('Bulk two', { name: '' })]
  const { page, quiet } = await open(t, asked[1].id)
  const key = async (...keys) => { for (const one of keys) await page.keyboard.press(one) }
  await key('Escape')
  await details(page).waitFor({ state: 'detached' })
  await key('Home', 'x', 'j', 'x')
  await page.getByText('2 selected').waitFor()
  await page.getByRole('toolbar', { name: 'Selected requests' }).getByRole('button', { name: 'Status' }).click()
  const status = page.getByRole('dialog', { name: 'Status' })
  await status.getByText('Customers who asked or voted may see this').waitFor()
  await look(page, 'audience-bulk')
  await quietly(page).focus()
  await key('Space', '3')
  await status.waitFor({ state: 'detached' })
  const quiets = async ({ id }, kind) => (await events(id, kind)).map(({ after }) => after.quiet ?? after.told)
  for (const one of asked) {
    await until(async () => (await request(one.id)).status === 'planned')
    assert.deepEqual(await quiets(one, 'request.updated'), [true])
  }
  await key('u')
  for (const one of asked) {
    await until(async () => (await request(one.id)).status === 'opened')
    assert.deepEqual(await quiets(one, 'request.updated'), [true, true])
  }
  await key('Escape')
  await page.getByText('2 selected').waitFor({ state: 'detached' })

  // One merge is told, its undo is not. Another is quiet.
  const merged = async () => (await request(asked[0].id)).merged_into_id
  const merge = async (...keys) => {
    await row(page, 'Bulk one').click()
    await details(page).getByRole('heading', { name: 'Bulk one' }).waitFor()
    await details(page).getByText('Ada Lovelace will see a merge', { exact: true }).waitFor()
    await key('m')
    const picker = page.getByRole('dialog', { name: 'Merge into another request' })
    await picker.getByText('Ada Lovelace will see this', { exact: true }).waitFor()
    await page.keyboard.type('Bulk two')
    await picker.getByRole('option', { name: /Bulk two/ }).waitFor()
    await key(...keys)
    await picker.getByRole('option', { name: /Bulk two/ }).click()
    await until(async () => (await merged()) === asked[1].id)
  }
  await merge()
  await key('u')
  await until(async () => (await merged()) === null)
  assert.deepEqual([await quiets(asked[0], 'request.merged'), await quiets(asked[0], 'request.unmerged')], [[1], [true]])
  await merge('Tab', 'Space')
  assert.deepEqual((await quiets(asked[0], 'request.merged')).toSorted(), [1, true])

  // Unmerging asks first.
  const unmerge = details(page).getByRole('note').getByRole('button', { name: 'Unmerge' })
  await unmerge.click()
  const picker = page.getByRole('dialog', { name: 'Unmerge' })
  await picker.getByText('Ada Lovelace will see this', { exact: true }).waitFor()
  await quiet(page)
  await look(page, 'audience-unmerge')
  await key('Escape')
  await picker.waitFor({ state: 'detached' })
  await until(() => unmerge.evaluate((button) => document.activeElement === button))
  await key('Enter')
  await picker.waitFor()
  await quietly(page).focus()
  await key('Space')
  await picker.getByRole('button', { name: 'Unmerge' }).focus()
  await key('Enter')
  await until(async () => (await merged()) === null)
  assert.deepEqual(await quiets(asked[0], 'request.unmerged'), [true, true])
  await unmerge.waitFor({ state: 'detached' })
  await until(() => page.evaluate(() => document.activeElement?.id === 'request-title'))
})

test('several requests do not claim who sees a change', async (t) => {
  const shelf = await owner.addApp('Shelf', { sharing: 'all' })
  const titles = ['From a support call', 'From another call']
  for (const title of titles) await owner.call('requests-create', { app_id: shelf.id, title, description: '', submitter: { email: 'eve@example.com' } })
  const { context } = await openBrowser(t)
  const page = await logIn(context, `/?app=${shelf.id}&view=all`)
  const picker = page.getByRole('dialog', { name: 'Status' })
  const says = async (text, ...keys) => {
    await page.getByRole('listbox', { name: 'Requests' }).focus()
    for (const key of [...keys, 's']) await page.keyboard.press(key)
    await picker.getByText(text, { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await picker.waitFor({ state: 'detached' })
  }
  await row(page, titles[0]).waitFor()
  await says('No customer will be notified', 'Home')
  await says('Customers who asked or voted may see this', 'x', 'j', 'x')
})

test('a change that waits stays quiet', inProof, async (t) => {
  const { context, page, quiet, calls, at, ids } = await shop(t, ['Loud', 'Silent', 'Undone'])
  await context.setOffline(true)
  await at('Silent')
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.keyboard.press('3')
  await waiting(page, 'Offline, 1 change waiting')
  await at('Loud')
  await setStatus(page, 'planned')
  await waiting(page, 'Offline, 2 changes waiting')
  calls.length = 0
  await context.setOffline(false)
  await nothingWaits(page)
  await quiet(page)
  const params = calls.map((call) => JSON.parse(call.slice(call.indexOf('{'))))
  assert.deepEqual([...new Set(params.map(({ id, quiet }) => `${id} ${quiet}`))], [`${ids.Silent} true`, `${ids.Loud} undefined`])
  await says(page, 'All changes are saved.')
})

test('a link is copied for the person, and revoked', async (t) => {
  const { id } = await submit(app, { title: 'Told on the phone' })
  const { page, quiet } = await open(t, id)
  const more = details(page).getByRole('button', { name: 'More', exact: true })
  await more.focus()
  await page.keyboard.press('Enter')
  const menu = page.getByRole('menu', { name: 'More' })
  assert.deepEqual(await menu.getByRole('menuitem').allInnerTexts(), ['Copy status link'])
  await page.keyboard.press('Enter')
  await says(page, 'Status link copied. Send it to the person wherever you talk with them.')
  await until(() => more.evaluate((button) => document.activeElement === button))
  const url = new URL(await page.evaluate(() => navigator.clipboard.readText()))
  assert.equal(url.origin + url.pathname, `${service}/mine`)
  const mine = () => outside('mine-list', { token: url.hash.slice(1) })
  assert.deepEqual((await mine()).result.requests.map(({ title }) => title), ['Told on the phone'])
  await page.keyboard.press('s')
  await page.getByRole('dialog').getByText('Anyone with a link will see this', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await more.click()
  await menu.getByRole('menuitem', { name: 'Revoke links' }).waitFor()
  await quiet(page)
  await everywhere(page, 'audience-menu', menu)
  await menu.getByRole('menuitem', { name: 'Revoke links' }).click()
  const dialog = page.getByRole('dialog', { name: 'Revoke status links?' })
  await dialog.getByText('The link that your team made').waitFor()
  await everywhere(page, 'audience-revoke', dialog)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await until(() => more.evaluate((button) => document.activeElement === button))
  assert.ok((await mine()).ok)
  await more.click()
  await menu.getByRole('menuitem', { name: 'Revoke links' }).click()
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await says(page, '1 status link revoked.')
  await until(() => more.evaluate((button) => document.activeElement === button))
  assert.equal((await mine()).error.code, 'mine.link_not_found')
  await quiet(page)
  await more.click()
  assert.deepEqual(await menu.getByRole('menuitem').allInnerTexts(), ['Copy status link'])
})

test('a link that the browser cannot copy is shown', inProof, async (t) => {
  const { id } = await submit(app, { title: 'No clipboard' })
  const { context, page } = await open(t, id)
  await page.evaluate(() => { navigator.clipboard.write = () => Promise.reject(new Error('no')) })
  await details(page).getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Copy status link' }).click()
  const dialog = page.getByRole('dialog', { name: 'Copy this link' })
  await until(async () => /\/mine#gsl_/.test(await dialog.getByLabel('Link').inputValue()))
  await look(page, 'audience-link')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.reload()
  await context.route('**/api/requests-status-link', (route) => route.abort())
  await details(page).getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Copy status link' }).click()
  await says(page, 'Could not make a status link. Cannot reach Gatherkit.')
})

test('the submitter answers, which the inbox and the request show', async (t) => {
  const asked = await ask('Export')
  await owner.call('comments-create', { request_id: asked.id, body: 'Which format?', visibility: 'public' })
  await reply(asked, 'CSV, please.\n**Really** @[x](user:0193e0a0-0000-7000-8000-000000000000) <b>')
  const { page, quiet } = await open(t, asked.id)
  const panel = details(page)
  const answer = panel.getByRole('listitem').filter({ hasText: 'CSV, please.' })
  await answer.getByText('Submitter', { exact: true }).waitFor()
  assert.match(await answer.innerText(), /Ada Lovelace/)
  assert.match(await answer.innerText(), /\*\*Really\*\* @\[x\]\(user:0193e0a0-0000-7000-8000-000000000000\) <b>/, 'it is no Markdown')
  await panel.getByText('Replied', { exact: true }).waitFor()
  await page.getByRole('option', { name: /^Export, .*replied,/ }).waitFor()
  assert.ok(await row(page, 'Export').getByTitle('Replied').isVisible())
  await quiet(page)
  await everywhere(page, 'audience-reply', answer)
  assert.equal(await answer.getByRole('button', { name: /Edit/ }).count(), 0)

  // Members cannot delete it, and viewers see neither who is told nor links.
  const max = await open(t, asked.id, { as: 'max.member@example.com' })
  await details(max.page).getByText('CSV, please.').waitFor()
  await details(max.page).getByRole('button', { name: 'More', exact: true }).waitFor()
  assert.equal(await details(max.page).getByRole('button', { name: /(Edit|Delete).*comment/ }).count(), 0)
  const vera = await open(t, asked.id, { as: 'vera.viewer@example.com' })
  await details(vera.page).getByText('CSV, please.').waitFor()
  await vera.quiet(vera.page)
  assert.equal(await details(vera.page).getByRole('button', { name: 'More', exact: true }).count(), 0)
  assert.equal(await details(vera.page).getByText('will see').count(), 0)

  // The mark goes when the team answers.
  const field = panel.getByRole('textbox', { name: 'Comment', exact: true })
  await panel.getByRole('radio', { name: 'Public' }).focus()
  await page.keyboard.press('Space')
  await field.fill('Thanks')
  await panel.getByRole('button', { name: 'Reply publicly' }).click()
  await panel.getByText('Replied', { exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('option', { name: /^Export, .*replied,/ }).waitFor({ state: 'detached' })
  await row(page, 'Export').waitFor()

  // An answer that comes while the page is open shows by itself. The owner deletes it.
  await reply(asked, 'You are welcome')
  await panel.getByText('You are welcome').waitFor()
  await page.getByRole('option', { name: /^Export, .*replied,/ }).waitFor()
  await panel.getByRole('listitem').filter({ hasText: 'You are welcome' }).getByRole('button', { name: 'Delete comment by Ada Lovelace' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await panel.getByText('You are welcome').waitFor({ state: 'detached' })
  await page.getByRole('option', { name: /^Export, .*replied,/ }).waitFor({ state: 'detached' })
})

test('an answer without a name is shown among the mentions', inProof, async (t) => {
  const asked = await ask('Nameless', { name: '' })
  await (await Caller.logIn('max.member@example.com')).call('comments-create', { request_id: asked.id, body: 'Why?', visibility: 'public' })
  await reply(asked, 'Because.')
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, '/mentions', 'max.member@example.com')
  await page.getByRole('list', { name: 'Mentions' }).getByRole('link', { name: /Anonymous on Nameless/ }).click()
  await details(page).locator('.comment[data-named]').getByText('Because.').waitFor()
  assert.deepEqual(complaints, [])
})
