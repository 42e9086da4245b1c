// Keys of other layouts and input methods, and printing.
import assert from 'node:assert/strict'
import path from 'node:path'
import { before, test } from 'node:test'
import { soon } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, screenshots, submit, until } from './harness.mjs'

const owner = await Caller.logIn()
let app

before(async () => {
  app = await owner.addApp('Shop')
})

// press presses a key of another layout.
const press = (page, key, code, more = {}) => page.evaluate(([key, code, more]) => {
  const event = new KeyboardEvent('keydown', { key, code, bubbles: true, cancelable: true, ...more })
  ;(document.activeElement ?? document.body).dispatchEvent(event)
  return event.defaultPrevented
}, [key, code, more])

const panel = (page) => page.getByRole('region', { name: 'Request', exact: true })

test('shortcuts work on a Russian layout', async (t) => {
  for (const title of ['First', 'Second']) await submit(app, { title })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context)
  await page.getByRole('option').nth(1).waitFor()
  assert.ok(await press(page, 'о', 'KeyJ'))
  assert.ok(await press(page, 'Enter', 'Enter'))
  await panel(page).getByRole('heading', { level: 2 }).waitFor()
  assert.ok(await press(page, 'л', 'KeyK', { ctrlKey: true }))
  await page.getByRole('dialog').getByRole('combobox').waitFor()
  await page.keyboard.press('Escape')
  assert.ok(await press(page, ',', 'Slash', { shiftKey: true }) === false, 'another character in place of ?')
  assert.deepEqual(complaints, [])
})

test('while an input method composes a word, its keys do nothing else', async (t) => {
  const { id } = await submit(app, { title: 'Composed' })
  const { comment } = await owner.call('comments-create', { request_id: id, body: 'Before' })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/?request=${id}`)
  await page.getByText(comment.body, { exact: true }).waitFor()
  const item = page.locator('.comment').filter({ hasText: 'Before' })
  await item.getByRole('button', { name: /Edit/ }).click()
  const field = item.getByRole('textbox')
  await field.focus()
  for (const more of [{ isComposing: true }, { keyCode: 229 }]) {
    for (const key of ['Escape', 'Enter']) assert.equal(await press(page, key, key, { ...more, ctrlKey: key === 'Enter' }), false)
    assert.ok(await field.isVisible(), 'the field was closed')
  }
  const search = page.getByRole('searchbox', { name: 'Search' })
  await search.fill('かいぎ')
  await press(page, 'Escape', 'Escape', { isComposing: true })
  assert.equal(await search.inputValue(), 'かいぎ')
  await press(page, 'k', 'KeyK', { isComposing: true, ctrlKey: true })
  assert.equal(await page.getByRole('dialog').count(), 0)
  assert.deepEqual(complaints, [])
})

test('a link that the browser does not copy is shown, selected', async (t) => {
  const { id } = await submit(await owner.addApp('Refused'), { title: 'No clipboard' })
  const { context, complaints } = await openBrowser(t)
  await context.addInitScript(() => { if (navigator.clipboard) navigator.clipboard.writeText = () => Promise.reject(new Error('refused')) })
  const page = await logIn(context, `/?view=all&request=${id}`)
  const dialog = page.getByRole('dialog', { name: 'Copy this link' })
  const shown = async () => {
    await dialog.waitFor()
    await page.waitForFunction(() => document.activeElement.value?.includes('request='))
    const selected = await page.evaluate(() => getSelection().toString())
    assert.equal(new URL(selected).searchParams.get('request'), id)
  }
  const button = page.getByRole('button', { name: 'Copy link to this request' })
  await button.press('Enter')
  await shown()
  await look(page, 'keys-link')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await until(() => button.evaluate((element) => element === document.activeElement))
  await page.keyboard.press('l')
  await shown()
  assert.deepEqual(complaints, [])
})

test('a key copies the link of a request, and another repeats the last change', async (t) => {
  const shelf = await owner.addApp('Shelf')
  const { id: first } = await submit(shelf, { title: 'The earlier' })
  const { id: second } = await submit(shelf, { title: 'The later' })
  const { context, complaints } = await openBrowser(t)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const page = await logIn(context, `/?app=${shelf.id}`)
  await page.getByRole('option').nth(1).waitFor()
  const notices = page.getByRole('region', { name: 'Notifications' })
  await page.getByRole('listbox', { name: 'Requests' }).focus()
  await page.keyboard.press('.')
  await notices.getByText('Nothing to repeat yet.').waitFor()
  await page.keyboard.press('l')
  await notices.getByText('Link copied.').waitFor()
  const link = await page.evaluate(() => navigator.clipboard.readText())
  assert.equal(new URL(link).searchParams.get('request'), second)
  await page.keyboard.press('s')
  await page.getByRole('dialog', { name: 'Status' }).waitFor()
  await page.keyboard.press('3')
  await notices.getByText('“The later” is now Planned.').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('.')
  await notices.getByText('“The earlier” is now Planned.').waitFor()
  assert.equal((await owner.call('requests-get', { id: first })).request.status, 'planned')
  assert.deepEqual(complaints, [])
})

test('a key writes an internal comment, and another a public reply', async (t) => {
  const { id } = await submit(await owner.addApp('Replies'), { title: 'The answered' })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/?request=${id}`)
  const panel = page.getByRole('complementary', { name: 'Request details' })
  const field = panel.getByRole('textbox', { name: 'Comment', exact: true })
  await field.waitFor()
  await page.keyboard.press('r')
  await page.keyboard.type('We plan it.') // the key itself is not typed
  assert.equal(await field.inputValue(), 'We plan it.')
  await look(page, 'comment-public')
  await page.keyboard.press('Escape')
  await page.getByRole('listbox', { name: 'Requests' }).focus()
  await page.keyboard.press('Enter')
  await field.waitFor()
  await page.keyboard.press('c')
  await page.keyboard.type('A secret.')
  assert.equal(await field.inputValue(), 'A secret.')
  await panel.getByRole('radio', { name: 'Public' }).focus()
  await page.keyboard.press('Space')
  assert.equal(await field.inputValue(), 'We plan it.', 'the reply has the text of the internal comment')
  await field.focus()
  await page.keyboard.press('Control+Enter')
  await panel.locator('.comment[data-public]').getByText('We plan it.').waitFor()
  assert.equal(await field.inputValue(), 'A secret.')
  const { comments } = await owner.call('comments-list', { request_id: id })
  assert.deepEqual(comments.map(({ body, visibility }) => [body, visibility]), [['We plan it.', 'public']])
  assert.deepEqual(complaints, [])
})

test('a button with an icon says what it does and its key', async (t) => {
  const { id } = await submit(await owner.addApp('Hints'), { title: 'The hinted' })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/?request=${id}`)
  const tip = page.getByRole('tooltip')
  await page.getByRole('button', { name: 'Delete request' }).hover()
  await tip.getByText('Delete request').waitFor()
  assert.equal(await tip.innerText(), 'Delete request\n#')
  await page.mouse.move(0, 0)
  await tip.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show filters' }).focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Shift+Tab')
  await tip.getByText('Show filters').waitFor()
  await page.keyboard.press('Escape')
  await tip.waitFor({ state: 'detached' })
  await page.getByRole('complementary', { name: 'Request details' }).waitFor()
  assert.deepEqual(complaints, [])
})

// printed returns what a page prints: its visible texts, and what is cut off.
const printed = (page) => page.evaluate(() => {
  dispatchEvent(new Event('beforeprint'))
  const cut = [...document.querySelectorAll('body *')].filter((part) => (
    part.checkVisibility() && getComputedStyle(part).overflowY !== 'visible' && part.scrollHeight > part.clientHeight + 2 && part.clientHeight > 2
  ))
  const text = document.body.innerText
  dispatchEvent(new Event('afterprint'))
  return { text, cut: cut.map(({ className }) => String(className)) }
})

test('a request is printed in full, without the list and the tools', async (t) => {
  const description = Array.from({ length: 80 }, (_, i) => `Line ${i + 1}.`).join('\n')
  const { id } = await submit(app, { title: 'A long request', description })
  for (let i = 1; i <= 60; i++) await owner.call('comments-create', { request_id: id, body: `Remark ${i}.` })
  for (let i = 1; i <= 12; i++) await owner.call('votes-add', { request_id: id, email: `voter${i}@example.com` })
  await submit(app, { title: 'Another request' })
  const { context, complaints, quiet } = await openBrowser(t, { colorScheme: 'dark' })
  const page = await logIn(context, `/?request=${id}`)
  await page.getByText('Remark 1.', { exact: true }).waitFor()
  await page.getByRole('option', { name: /Another request/ }).waitFor()
  await quiet(page)
  await page.evaluate(() => {
    window.prints = 0
    window.print = () => window.prints++
  })
  await page.evaluate(() => document.activeElement.blur())
  await page.keyboard.press('Control+p')
  await soon('the page is printed', () => page.evaluate(() => window.prints === 1))
  await page.emulateMedia({ media: 'print', reducedMotion: 'reduce' })
  const { text, cut } = await printed(page)
  for (const part of ['A long request', 'Line 1.', 'Line 80.', 'Remark 1.', 'Remark 60.', 'voter12@example.com', 'History']) {
    assert.ok(text.includes(part), `${part} is missing`)
  }
  for (const part of ['Another request', 'Copy link', 'Inbox', 'The rest is not printed']) assert.ok(!text.includes(part), `${part} is printed`)
  assert.deepEqual(cut, [])
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).color), 'rgb(26, 29, 36)', 'it is dark')
  if (screenshots) await page.pdf({ path: path.join(screenshots, 'print-request.pdf') })
  assert.deepEqual(complaints, [])
})

test('the list is printed, with its rows that are not on the screen', async (t) => {
  const list = await owner.addApp('List')
  for (let i = 1; i <= 250; i++) await owner.call('requests-create', { app_id: list.id, title: `Row ${i}.`, description: '' })
  const { context, complaints, quiet } = await openBrowser(t)
  const page = await logIn(context, `/?app=${list.id}`)
  await page.getByRole('option').first().waitFor()
  await quiet(page)
  await page.evaluate(() => {
    window.prints = 0
    window.print = () => window.prints++
  })
  await page.emulateMedia({ media: 'print', reducedMotion: 'reduce' })
  const before = await printed(page)
  assert.match(before.text, /The first 200 of 250 requests\./)
  await page.emulateMedia({ media: 'screen', reducedMotion: 'reduce' })
  await page.keyboard.press('Control+p')
  await soon('the page is printed', () => page.evaluate(() => window.prints === 1))
  await page.emulateMedia({ media: 'print', reducedMotion: 'reduce' })
  const { text, cut } = await printed(page)
  for (const part of ['250 requests', 'Row 1.', 'Row 64.', 'Row 250.']) assert.ok(text.includes(part), `${part} is missing`)
  for (const part of ['New request', 'Insights', 'The first']) assert.ok(!text.includes(part), `${part} is printed`)
  assert.deepEqual(cut, [])
  if (screenshots) await page.pdf({ path: path.join(screenshots, 'print-list.pdf') })
  await page.emulateMedia({ media: 'screen', reducedMotion: 'reduce' })
  await soon('only the rows near the screen are rendered', async () => (await page.locator('.item').count()) < 60)
  for (const key of ['j', 'x']) await page.keyboard.press(key)
  await page.getByRole('toolbar', { name: 'Selected requests' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.emulateMedia({ media: 'print', reducedMotion: 'reduce' })
  const open = (await printed(page)).text
  assert.ok(open.includes('Row 250.'))
  for (const part of ['1 selected', 'Keyboard shortcuts']) assert.ok(!open.includes(part), `${part} is printed`)
  assert.deepEqual(complaints, [])
})
