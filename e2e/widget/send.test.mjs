// Sending: no idea is lost or stored twice, and the widget reports it as sent only after the receipt.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addApp, call, document, gate, kept, recorded, soon, start, stored, tag, widget } from './harness.mjs'

const submission = 'widget-submit-request'
const onSubmit = (fault) => ({ operation, params }) => (operation === submission ? fault(params) : undefined)
const titles = async (app) => (await stored(app)).map(({ title }) => title)

async function shop(t, settings, options) {
  const app = await addApp(settings)
  const made = await start(t, options)
  made.pages['/'] = document(tag(made.relay, app))
  return { app, ...made }
}

// seed puts ideas into the outbox, as if they were from an earlier visit.
const seed = (tab, entries) => tab.evaluate((entries) => new Promise((resolve, reject) => {
  localStorage.setItem(`gatherkit:unsent:${entries[0].app}`, JSON.stringify({ count: 0, waiting: [] }))
  const opening = indexedDB.open('gatherkit', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('outbox', { keyPath: 'id' })
  opening.onsuccess = () => {
    const transaction = opening.result.transaction('outbox', 'readwrite')
    entries.forEach((entry) => transaction.objectStore('outbox').put(entry))
    transaction.onabort = () => reject(transaction.error)
    transaction.oncomplete = () => {
      opening.result.close()
      resolve()
    }
  }
}), entries)

const entry = (app, title, more = {}) => (
  { id: `seed-${title}`, app: app.id, at: Date.now(), tries: 0, next: 0, files: [], fields: { title, description: '' }, ...more }
)

test('an idea is stored before it is sent, and reported as sent after the receipt', async (t) => {
  const { app, relay, visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  let answer
  relay.fault = onSubmit(() => new Promise((resolve) => (answer = resolve)))
  await w.open()
  await w.submit('In order')
  await soon('the call arrives', () => answer)
  assert.deepEqual((await kept(tab)).map(({ fields }) => fields.title), ['In order'])
  assert.deepEqual((await recorded(tab, 'queued', 'submit')).map(([name]) => name), ['queued'])
  assert.equal(await w.send.textContent(), 'Sending…')
  assert.equal(await w.result.count(), 0)
  answer()
  await w.sent.waitFor()
  const [[, queued], [, submitted]] = await recorded(tab, 'queued', 'submit')
  const [request] = await stored(app)
  assert.equal(submitted.id, queued.id)
  assert.equal(submitted.request.id, request.id)
  assert.equal(submitted.key, app.key)
  assert.deepEqual(await kept(tab), [])
})

test('if the answer is lost, the idea is not stored twice', async (t) => {
  const { app, relay, visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  let lost = 0
  const seen = gate()
  relay.fault = onSubmit(() => (lost++ < 2 ? 'lose' : seen.opened))
  await w.open()
  await w.submit('Once')
  await w.waiting.waitFor()
  assert.match(await w.result.textContent(), /We are unavailable right now/)
  seen.open()
  await w.sent.waitFor()
  assert.equal(relay.count(submission), 3)
  assert.deepEqual(await titles(app), ['Once'])
  const events = (await recorded(tab, 'error', 'submit')).map(([name, { kind }]) => [name, kind])
  assert.deepEqual(events, [['error', 'server'], ['error', 'server'], ['submit', undefined]])
})

test('an idea written offline is sent once on the next visit', async (t) => {
  const { app, relay, context, visit } = await shop(t)
  let tab = await visit('/')
  let w = widget(tab)
  await w.launcher.waitFor()
  await context.setOffline(true)
  await w.open() // the panel needs no network, even when it opens for the first time
  await w.submit('From the train', 'No network there.')
  await w.waiting.waitFor()
  assert.match(await w.result.textContent(), /You are offline/)
  assert.equal((await recorded(tab, 'error')).at(-1)[1].kind, 'offline')
  await tab.close()
  await context.setOffline(false)
  assert.deepEqual(await titles(app), [])
  tab = await visit('/')
  await soon('the idea is sent', async () => (await recorded(tab, 'submit')).length === 1)
  assert.deepEqual(await titles(app), ['From the train'])
  assert.equal(relay.count(submission), 1)
  w = widget(tab)
  await w.open()
  assert.equal(await w.title.inputValue(), '')
})

test('when the browser is online again, the idea is sent automatically and the panel says so', async (t) => {
  const { app, context, visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  await w.open()
  await context.setOffline(true)
  await w.submit('Tunnel')
  await w.waiting.waitFor()
  await context.setOffline(false)
  await w.sent.waitFor()
  assert.deepEqual(await titles(app), ['Tunnel'])
})

test('an idea is sent on the next visit if its tab is closed while sending', async (t) => {
  const { app, relay, visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  let arrived
  relay.fault = onSubmit(() => new Promise(() => (arrived = true)))
  await w.open()
  await w.submit('Closed too early')
  await soon('the call arrives', () => arrived)
  await tab.close()
  relay.fault = undefined
  const next = await visit('/')
  await soon('the idea is sent', async () => (await recorded(next, 'submit')).length === 1)
  assert.deepEqual(await titles(app), ['Closed too early'])
})

// offlineTabs cuts the network, and writes an idea in each tab.
async function offlineTabs(context, tabs) {
  for (const tab of tabs) await widget(tab).launcher.waitFor()
  await context.setOffline(true)
  for (const [i, tab] of tabs.entries()) {
    const w = widget(tab)
    await w.open()
    await w.submit(`Tab ${i}`)
    await w.waiting.waitFor()
  }
  return tabs
}

test('several tabs send each idea once', async (t) => {
  const { app, relay, context, visit } = await shop(t)
  const tabs = await offlineTabs(context, [await visit('/'), await visit('/'), await visit('/')])
  relay.wait = 100
  await context.setOffline(false)
  for (const tab of tabs) await widget(tab).sent.waitFor()
  assert.equal(relay.count(submission), 3)
  assert.deepEqual((await titles(app)).sort(), ['Tab 0', 'Tab 1', 'Tab 2'])
  const events = await Promise.all(tabs.map((tab) => recorded(tab, 'submit')))
  assert.equal(events.flat().length, 3)
})

test('a tab whose scripts do not load hears that another tab sent its idea', async (t) => {
  const { app, context, visit } = await shop(t)
  const tabs = await offlineTabs(context, [await visit('/'), await visit('/')])
  await tabs[1].route('**/widget/extras.js*', (route) => route.abort())
  await context.setOffline(false)
  for (const tab of tabs) await widget(tab).sent.waitFor()
  assert.match(await widget(tabs[1]).result.textContent(), /^Thank you!We'll read it/)
  assert.deepEqual((await titles(app)).sort(), ['Tab 0', 'Tab 1'])
  assert.deepEqual(await recorded(tabs[1], 'submit'), [])
})

test('Retry-After is respected, even after an online event', async (t) => {
  const { app, relay, visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  const times = []
  relay.fault = onSubmit(() => {
    times.push(Date.now())
    return times.length === 1 ? { status: 429, code: 'api.rate_limited', message: 'Later.', headers: { 'Retry-After': '6' } } : undefined
  })
  await w.open()
  await w.submit('Patience')
  await w.waiting.waitFor()
  await tab.evaluate(() => dispatchEvent(new Event('online')))
  await w.sent.waitFor()
  assert.ok(times.length === 2 && times[1] - times[0] >= 6000, `the next attempt was after ${times[1] - times[0]} ms`)
  assert.deepEqual(await titles(app), ['Patience'])
})

for (const [name, fault] of Object.entries({
  'an HTML error of a proxy': 502, '404 without an envelope': 404, '200 without an envelope': 200, 'an incomplete answer': 'cut',
  'a rate limit': { status: 429, code: 'api.rate_limited', message: 'Later.' }, '500 without an envelope': 500,
})) {
  test(`the widget tries again after ${name}`, async (t) => {
    const { app, relay, visit } = await shop(t)
    const tab = await visit('/')
    const w = widget(tab)
    let times = 0
    const seen = gate()
    relay.fault = onSubmit(() => (times++ ? seen.opened : fault))
    await w.open()
    await w.submit('Go on')
    await w.waiting.waitFor()
    seen.open()
    assert.equal((await recorded(tab, 'error'))[0][1].kind, 'server')
    await w.sent.waitFor()
    assert.deepEqual(await titles(app), ['Go on'])
  })
}

test('if the service refuses an idea, the form gets text and files back, with the reason', async (t) => {
  const { app, relay, visit } = await shop(t, { widget: { allow_file_uploads: true } })
  const tab = await visit('/')
  const w = widget(tab)
  await w.open()
  await w.file.setInputFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Notes') }])
  relay.fault = onSubmit(() => ({ status: 400, code: 'widget.invalid_title', message: 'title must be about the shop.' }))
  await w.email.fill('ada@example.com')
  await w.submit('Weather', 'It rains.')
  await w.alert.waitFor()
  assert.equal(await w.alert.textContent(), 'Your idea was not accepted. title must be about the shop.')
  const values = [await w.title.inputValue(), await w.description.inputValue(), await w.email.inputValue()]
  assert.deepEqual(values, ['Weather', 'It rains.', 'ada@example.com'])
  assert.equal(await w.files.count(), 1)
  assert.deepEqual(await kept(tab), [])
  assert.equal((await recorded(tab, 'error'))[0][1].kind, 'refused')
  relay.fault = undefined
  await w.submit('Umbrellas', 'It rains.')
  await w.sent.waitFor()
  const [request] = await stored(app)
  assert.deepEqual([request.title, request.attachments.map(({ filename }) => filename)], ['Umbrellas', ['notes.txt']])
  const keys = relay.calls.filter(({ operation }) => operation === submission).map(({ params }) => params.idempotency_key)
  assert.equal(new Set(keys).size, 2)
})

test('an idea that is refused on a later visit is shown when the form opens', async (t) => {
  const { app, relay, visit } = await shop(t)
  const tab = await visit('/')
  await seed(tab, [entry(app, 'Refused'), entry(app, 'Too old', { at: Date.now() - 30 * 24 * 3600_000 })])
  relay.fault = onSubmit(({ title }) => (title === 'Refused' ? { status: 400, code: 'widget.invalid_title', message: 'No.' } : undefined))
  await tab.reload()
  const w = widget(tab)
  await w.mark.waitFor()
  await soon('both ideas are refused', async () => (await kept(tab)).filter(({ refusal }) => refusal).length === 2)
  const given = []
  for (let i = 0; i < 2; i++) {
    await w.open()
    await w.alert.waitFor()
    given.push([await w.title.inputValue(), await w.alert.textContent()])
    relay.fault = undefined
    await w.send.click()
    await w.sent.waitFor()
    await w.close.click()
  }
  assert.deepEqual(given.sort(), [
    ['Refused', 'Your idea was not accepted. No.'],
    ['Too old', 'Your idea was not accepted. We could not send it for a month.'],
  ])
  assert.deepEqual((await titles(app)).sort(), ['Refused', 'Too old'])
  await soon('the mark disappears', async () => !(await w.mark.isVisible()))
})

test('an idea with an old key is sent when the page has the new key', async (t) => {
  const { app, pages, relay, visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  const { app: renewed } = await call('apps-regenerate-key', { id: app.id })
  await w.open()
  await w.submit('Old key')
  await w.waiting.waitFor()
  assert.equal((await recorded(tab, 'error')).at(-1)[1].kind, 'key')
  assert.equal((await kept(tab)).length, 1)
  pages['/'] = document(tag(relay, { key: renewed.api_key }))
  await tab.reload()
  await soon('the idea is sent', async () => (await recorded(tab, 'submit')).length === 1)
  assert.deepEqual(await titles(app), ['Old key'])
})

test('a draft survives a reload, and is deleted when it is sent', async (t) => {
  const { app, visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  await w.open()
  await w.title.fill('Half an')
  await w.description.fill('idea')
  await tab.reload()
  await w.open()
  await soon('the draft is there', async () => (await w.title.inputValue()) === 'Half an' && (await w.description.inputValue()) === 'idea')
  await w.close.click()
  await w.open()
  await w.submit('A whole', 'idea')
  await w.sent.waitFor()
  await tab.reload()
  await w.open()
  await w.title.fill('')
  assert.equal(await w.description.inputValue(), '')
  assert.deepEqual(await titles(app), ['A whole'])
})

test('without storage, the widget keeps ideas in memory and says so', async (t) => {
  const { app, context, visit } = await shop(t)
  await context.addInitScript(() => {
    for (const name of ['indexedDB', 'localStorage', 'sessionStorage']) {
      Object.defineProperty(window, name, { get: () => { throw new DOMException('denied', 'SecurityError') } })
    }
  })
  const w = widget(await visit('/'))
  await w.open()
  await w.submit('First')
  await w.sent.waitFor()
  await w.again.click()
  await context.setOffline(true)
  await w.submit('Second')
  await w.waiting.waitFor()
  assert.match(await w.result.textContent(), /Keep this page open until it is sent/)
  await context.setOffline(false)
  await w.sent.waitFor()
  assert.deepEqual(await titles(app), ['First', 'Second'])
})

test('the widget works in a sandboxed frame, without storage and locks', async (t) => {
  const { app, pages, visit } = await shop(t)
  pages['/frame'] = document('<iframe sandbox="allow-scripts allow-forms" src="/" style="width: 900px; height: 700px"></iframe>')
  const tab = await visit('/frame')
  const w = widget(tab.frameLocator('iframe'))
  await w.open()
  await w.submit('From within')
  await w.sent.waitFor()
  assert.deepEqual(await titles(app), ['From within'])
})

test('when the outbox is full, the text stays in the form', async (t) => {
  const { app, relay, visit } = await shop(t)
  relay.fault = onSubmit(() => 503)
  const tab = await visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  await seed(tab, Array.from({ length: 50 }, (_, i) => entry(app, `Waiting ${i}`)))
  await w.open()
  await w.submit('One more')
  await w.alert.waitFor()
  assert.match(await w.alert.textContent(), /Too many unsent ideas/)
  assert.equal(await w.title.inputValue(), 'One more')
  assert.equal((await kept(tab)).length, 50)
})

test('invalid metadata of the page does not stop an idea', async (t) => {
  const { app, visit } = await shop(t)
  const tab = await visit('/')
  await tab.evaluate(() => Gatherkit('set', { metadata: { state: 'x'.repeat(9000) } }))
  const w = widget(tab)
  await w.open()
  await w.submit('Still sent')
  await w.sent.waitFor()
  assert.deepEqual((await recorded(tab, 'error')).map(([, { code }]) => code), ['widget.invalid_metadata'])
  assert.deepEqual(await titles(app), ['Still sent'])
})

test('a submission contains the honeypot field and how long the form was open', async (t) => {
  const { relay, visit } = await shop(t)
  const tab = await visit('/')
  await tab.evaluate(() => {
    window.clock = 0
    performance.now = () => window.clock
  })
  const w = widget(tab)
  await w.open()
  await tab.evaluate(() => (window.clock += 3000))
  await w.submit('By hand')
  await w.sent.waitFor()
  await w.again.click()
  await w.part('[name=website]').evaluate((field) => (field.value = 'https://spam.example'))
  await w.submit('By a robot')
  await w.sent.waitFor()
  const [person, robot] = relay.calls.filter(({ operation }) => operation === submission).map(({ params }) => params)
  assert.deepEqual([person.form.website, person.form.seconds], ['', 3])
  assert.deepEqual([robot.form.website, robot.form.seconds], ['https://spam.example', 0])
  assert.equal(person.metadata.page, robot.metadata.page)
  assert.match(person.metadata.page, /^http:\/\/127\.0\.0\.1:\d+\/$/)
})
