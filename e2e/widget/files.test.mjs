// Attached files: chosen, pasted and dropped, and refused by the widget or by the service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { some } from '../browser.mjs'
import { addApp, document, gate, recorded, soon, start, stored, tag, widget } from './harness.mjs'

const settings = { widget: { allow_file_uploads: true } }
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const png = Buffer.from(pixel, 'base64')
const text = (name, content = 'Notes') => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })

async function shop(t, options = {}, attributes = '') {
  const app = await addApp(settings)
  const { relay, pages, ...rest } = await start(t, { options })
  pages['/'] = document(tag(relay, app, attributes))
  const tab = await rest.visit('/')
  const w = widget(tab)
  await w.open()
  await w.file.waitFor({ state: 'attached' })
  return { app, relay, tab, w, ...rest }
}

const names = (w) => w.files.locator('> span').evaluateAll((all) => all.map((span) => span.firstChild.textContent))

test('files arrive unchanged, and removed files are not sent', async (t) => {
  const { app, relay, w } = await shop(t)
  const sent = {}
  relay.fault = ({ operation, method, body, url }) => {
    if (!operation && method !== 'GET') sent[url] = body
  }
  await w.file.setInputFiles([{ name: 'screen.png', mimeType: 'image/png', buffer: png }, text('wrong.txt'), text('notes.txt')])
  await w.files.nth(2).waitFor()
  await w.part('[aria-label="Remove wrong.txt"]').click()
  await w.submit('With files')
  await w.sent.waitFor()
  const [{ attachments }] = await stored(app)
  const received = attachments.map(({ filename, content_type, size }) => [filename, content_type, size])
  assert.deepEqual(received, [['screen.png', 'image/png', png.length], ['notes.txt', 'text/plain', 5]])
  assert.deepEqual(Object.values(sent).map(String), [String(png), 'Notes'])
  await w.again.click()
  assert.equal(await w.files.count(), 0)
})

test('files can be pasted and dropped', async (t) => {
  const { tab, w } = await shop(t)
  const give = (type, file) => w.description.evaluate((element, [type, file]) => {
    const data = new DataTransfer()
    data.items.add(new File([new Uint8Array(file.bytes)], file.name, { type: file.type }))
    const options = { bubbles: true, cancelable: true, composed: true }
    const event = type === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, ...options })
      : new DragEvent(type, { dataTransfer: data, ...options })
    return element.dispatchEvent(event)
  }, [type, file])
  const image = { name: 'image.png', type: 'image/png', bytes: [...png] }
  assert.equal(await give('paste', image), false)
  await w.files.first().waitFor()
  assert.equal(await give('dragover', image), false)
  assert.equal(await give('drop', { ...image, name: 'dropped.png' }), false)
  await w.files.nth(1).waitFor()
  assert.deepEqual(await names(w), ['image.png', 'dropped.png'])
  await w.description.focus()
  await tab.evaluate(() => navigator.clipboard?.writeText?.('words').catch(() => {}))
  const pasted = await w.description.evaluate((element) => element.dispatchEvent(
    new ClipboardEvent('paste', { clipboardData: new DataTransfer(), bubbles: true, cancelable: true, composed: true }),
  ))
  assert.equal(pasted, true, 'the widget intercepts pasted text')
})

test('files of wrong types, and too large or too many files, are refused at once', async (t) => {
  const { relay, w } = await shop(t)
  const problem = w.part('.field > .error[role=alert]')
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
  for (const [file, says] of [
    [{ name: 'page.png', mimeType: 'image/png', buffer: Buffer.from('<html></html>') }, /page\.png is not supported\. Use png, jpeg/],
    [{ name: 'drawing.svg', mimeType: 'image/svg+xml', buffer: svg }, /drawing\.svg is not supported/],
    [{ name: 'tool.txt', mimeType: 'text/plain', buffer: Buffer.from([77, 90, 0, 0]) }, /tool\.txt is not supported/],
    [text('empty.txt', ''), /empty\.txt is not supported/],
    [text('large.txt', 'x'.repeat(10485761)), /large\.txt is larger than 10 MB/],
  ]) {
    await w.file.setInputFiles([file])
    await soon(`${file.name} is refused`, async () => says.test(await problem.textContent()))
    assert.equal(await w.files.count(), 0)
  }
  await w.file.setInputFiles([1, 2, 3, 4, 5, 6].map((i) => text(`${i}.txt`)))
  await soon('the sixth is refused', async () => (await problem.textContent()) === '6.txt was not added. At most 5 files.')
  assert.deepEqual(await names(w), ['1.txt', '2.txt', '3.txt', '4.txt', '5.txt'])
  assert.equal(relay.count('widget-create-upload'), 0)
})

test('each refused file is named with its reason, where people can see it', async (t) => {
  const { tab, w } = await shop(t, { viewport: { width: 640, height: 480 } })
  const problem = w.part('.field > .error[role=alert]')
  const page = { ...text('page.png'), mimeType: 'image/png' }
  await w.file.setInputFiles([page, text('large.txt', 'x'.repeat(10485761)), text('good.txt'), text('empty.txt', '')])
  const reasons = ['page.png is not supported.', 'large.txt is larger than 10 MB.', 'empty.txt is not supported.']
  await soon('all are refused', async () => (await problem.textContent()).split('\n').length === 3)
  const lines = (await problem.textContent()).split('\n')
  reasons.forEach((reason, i) => assert.ok(lines[i].startsWith(reason), lines[i]))
  assert.deepEqual(await names(w), ['good.txt'])
  const seen = () => problem.evaluate((element) => {
    const range = window.document.createRange()
    range.selectNodeContents(element)
    const rows = [...range.getClientRects()]
    const uncovered = rows.every(({ x, y, height }) => element.getRootNode().elementFromPoint(x + 2, y + height / 2) === element)
    const text = element.firstChild
    const begins = [...text.data.matchAll(/^./gm)].map(({ index }) => {
      range.setStart(text, index)
      range.setEnd(text, index + 1)
      return range.getBoundingClientRect().x
    })
    return { begins, uncovered }
  })
  const { begins, uncovered } = await seen()
  assert.deepEqual(begins, Array(3).fill(begins[0]), 'the reasons run together')
  assert.ok(uncovered, 'the reasons are hidden')
  if (process.env.SCREENSHOTS) await tab.screenshot({ path: `${process.env.SCREENSHOTS}/widget-files-refused.png` })
  await w.part('[aria-label="Remove good.txt"]').click()
  assert.equal(await problem.isVisible(), false)
})

for (const [locale, sizes] of some([
  ['en', ['1 kB', '2 kB', '100 kB', '1 MB', '1.5 MB']],
  ['fr', ['1 ko', '2 ko', '100 ko', '1 Mo', '1,5 Mo']],
  ['de', ['1 kB', '2 kB', '100 kB', '1 MB', '1,5 MB']],
], 1)) {
  test(`sizes are in kB below 1 MB: ${locale}`, async (t) => {
    const { w } = await shop(t, {}, `data-locale="${locale}"`)
    const bytes = [1, 1025, 102_400, 1_024_000, 1_572_864]
    await w.file.setInputFiles(bytes.map((size, i) => text(`${i}.txt`, 'x'.repeat(size))))
    await w.files.nth(bytes.length - 1).waitFor()
    const shown = await w.files.locator('small').allTextContents()
    assert.deepEqual(shown.map((size) => size.replace(/\s/g, ' ')), sizes)
  })
}

test('progress is shown, and finished uploads are not repeated', async (t) => {
  const { app, relay, tab, w } = await shop(t)
  let uploads = 0
  const seen = gate()
  relay.fault = ({ operation, method }) => {
    if (operation || method === 'GET') return
    uploads++
    if (uploads === 3) return seen.opened
    return uploads === 2 ? 403 : undefined // like S3 with an expired link: there is no envelope
  }
  await w.file.setInputFiles([text('one.txt', 'x'.repeat(3e6)), text('two.txt')])
  await w.files.nth(1).waitFor()
  await tab.evaluate(() => {
    window.shown = []
    const bar = window.document.querySelector('gatherkit-widget').shadowRoot.querySelector('progress')
    new MutationObserver(() => window.shown.push(bar.value)).observe(bar, { attributes: true })
  })
  await w.submit('Slowly')
  await w.waiting.waitFor()
  seen.open()
  assert.equal((await recorded(tab, 'error'))[0][1].kind, 'server')
  await w.sent.waitFor()
  assert.equal(uploads, 3)
  assert.equal(relay.count('widget-create-upload'), 3)
  assert.ok((await tab.evaluate(() => window.shown)).length > 0, 'no progress was shown')
  assert.deepEqual((await stored(app))[0].attachments.map(({ filename }) => filename), ['one.txt', 'two.txt'])
})

test('if the service refuses a file, the form gets file and text back', async (t) => {
  const { app, relay, w } = await shop(t)
  const refusal = { status: 400, code: 'widget.invalid_upload', message: 'The file is not what it says.' }
  relay.fault = ({ operation, method }) => (operation || method === 'GET' ? undefined : refusal)
  await w.file.setInputFiles([text('odd.txt')])
  await w.files.first().waitFor()
  await w.submit('With an odd file')
  await w.alert.waitFor()
  assert.equal(await w.alert.textContent(), "Your idea was not accepted. odd.txt can't be sent. Remove it or choose another file.")
  assert.equal(await w.title.inputValue(), 'With an odd file')
  assert.deepEqual(await names(w), ['odd.txt'])
  relay.fault = undefined
  await w.send.click()
  await w.sent.waitFor()
  assert.deepEqual((await stored(app))[0].attachments.map(({ filename, size }) => [filename, size]), [['odd.txt', 5]])
})

test('a refused file is named in the language of the widget', async (t) => {
  const { relay, w } = await shop(t, {}, 'data-locale="de"')
  const refusal = { status: 400, code: 'uploads.invalid_file', message: 'The file is not what it says.' }
  relay.fault = ({ operation, method, body }) => (operation || method === 'GET' || body.length < 6 ? undefined : refusal)
  await w.file.setInputFiles([text('gut.txt'), text('groß.txt', 'Viele Wörter')])
  await w.files.nth(1).waitFor()
  await w.submit('Mit Dateien')
  await w.alert.getByText('groß.txt kann nicht gesendet werden.').waitFor()
  assert.doesNotMatch(await w.alert.textContent(), /The file/)
})

test('a draft names the files that it has lost', async (t) => {
  const { tab, w } = await shop(t)
  await w.title.fill('With notes')
  await w.file.setInputFiles([text('notes.txt'), text('more.txt')])
  await w.files.nth(1).waitFor()
  await w.part('[aria-label="Remove more.txt"]').click()
  await tab.reload()
  await w.open()
  const problem = w.part('.field > .error[role=alert]')
  await problem.getByText('Your files were lost when you left the page. Add them again: notes.txt', { exact: true }).waitFor()
  assert.equal(await w.title.inputValue(), 'With notes')
  if (process.env.SCREENSHOTS) await tab.screenshot({ path: `${process.env.SCREENSHOTS}/widget-files-lost.png` })
  await w.file.setInputFiles([text('notes.txt')])
  await w.files.first().waitFor()
  await problem.waitFor({ state: 'hidden' })
})

test('uploads that the service has removed meanwhile are repeated', async (t) => {
  const { app, relay, w } = await shop(t)
  const seen = gate()
  const faults = [503, seen.opened.then(() => ({ status: 400, code: 'widget.invalid_attachments', message: 'The upload was not found.' }))]
  relay.fault = ({ operation }) => (operation === 'widget-submit-request' ? faults.shift() : undefined)
  await w.file.setInputFiles([text('notes.txt')])
  await w.files.first().waitFor()
  await w.submit('After a day')
  await w.waiting.waitFor()
  seen.open()
  await w.sent.waitFor()
  assert.equal(relay.count('widget-create-upload'), 2)
  assert.equal((await stored(app))[0].attachments.length, 1)
})

test('unsent files survive the page', async (t) => {
  const { app, context, relay, tab, w, visit } = await shop(t)
  await w.file.setInputFiles([text('kept.txt', 'Kept')])
  await w.files.first().waitFor()
  await context.setOffline(true)
  await w.submit('With a file, offline')
  await w.waiting.waitFor()
  await tab.close()
  await context.setOffline(false)
  const next = await visit('/')
  await soon('the idea is sent', async () => (await recorded(next, 'submit')).length === 1)
  assert.deepEqual((await stored(app))[0].attachments.map(({ filename, size }) => [filename, size]), [['kept.txt', 4]])
  assert.equal(relay.count('widget-submit-request'), 1)
})
