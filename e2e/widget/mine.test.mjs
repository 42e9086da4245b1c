// The person's own ideas: the dot on the launcher, the list, replies and the private link.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addApp, answer, call, check, document, gate, identityToken, recorded, soon, start, stored, tag, visitor, widget } from './harness.mjs'

const onCall = (name, fault) => ({ operation }) => (operation === name ? fault() : undefined)
const minutes = 60_000

async function shop(t, { settings, options, attributes = '', permissions = [] } = {}) {
  const app = await addApp({ ...settings, widget: { button_text: 'Ideas', ...settings?.widget } })
  const made = await start(t, { options: { permissions, ...options } })
  made.pages['/'] = document(tag(made.relay, app, attributes))
  // enter opens the page with a clock that a test can move ahead.
  const enter = async () => {
    const tab = await made.context.newPage()
    await tab.clock.install()
    await made.visit('/', tab)
    await widget(tab).launcher.waitFor()
    return tab
  }
  return { app, enter, ...made }
}

// named waits until the launcher has a name, as screen readers get it.
const named = (tab, name) => tab.getByRole('button', { name, exact: true }).waitFor()
const news = (tab, count) => named(tab, `Ideas (News on your ideas: ${count})`)
const sent = (relay, operation) => relay.calls.filter((one) => one.operation === operation).map(({ params }) => params)
const identify = (tab, identity) => tab.evaluate((identity) => Gatherkit('identify', identity), identity)

async function ask(tab, title) {
  const w = widget(tab)
  await w.open()
  await w.submit(title)
  await w.sent.waitFor()
  await w.close.click()
}

// decide sets the status of the latest request, and comments on it.
async function decide(app, status, body) {
  const request = (await stored(app)).at(-1)
  await call('requests-update', { id: request.id, status })
  if (body) await call('comments-create', { request_id: request.id, body, visibility: 'public' })
  return request
}

async function openList(w) {
  await w.open()
  await w.turn.click()
  await w.ideas.first().waitFor()
}

test('who asked sees what became of it, answers, and takes it along as a link', async (t) => {
  const { app, relay, context, complaints, enter } = await shop(t, { permissions: ['clipboard-read', 'clipboard-write'] })
  const tab = await enter()
  const w = widget(tab)
  await w.open()
  assert.equal(await w.turn.count(), 0, 'there is nothing to list yet')
  await w.submit('Dark mode')
  await w.sent.waitFor()
  await w.turn.waitFor()
  await w.close.click()
  const words = 'Which <b>screen</b> &amp; when?\nPlease tell us.'
  const { id } = await decide(app, 'planned', words)
  await tab.clock.fastForward(5 * minutes)
  await news(tab, 1)
  assert.equal(await w.mark.textContent(), '●')

  await w.open()
  assert.equal(await w.turn.textContent(), 'Your ideas (1 new)')
  await w.turn.click()
  await w.ideas.waitFor()
  assert.equal(await w.part('h2').textContent(), 'Your ideas')
  await soon('the heading has the focus', () => w.part('h2').evaluate((heading) => heading.matches(':focus')))
  assert.equal(await w.part('.mine h3').textContent(), 'Dark mode')
  assert.deepEqual(await w.part('.facts > *').allTextContents(), ['New', 'Planned', 'Votes: 1'])
  assert.equal(await w.part('.note p').textContent(), words)
  assert.match(await w.part('.note small').textContent(), /^Shop · /)
  await soon('the news are seen', async () => (await recorded(tab, 'news')).length === 2)
  assert.deepEqual((await recorded(tab, 'news')).map(([, { key, unread }]) => [key, unread]), [[app.key, 1], [app.key, 0]])
  assert.equal(await w.mark.textContent(), '')

  await w.part('summary').click()
  await w.reply.fill('  All of them.\nEspecially at night. ')
  await w.part('details button').click()
  await w.part('.note').nth(1).waitFor()
  assert.match(await w.part('.note small').nth(1).textContent(), /^You · /)
  assert.equal(await w.reply.inputValue(), '')
  const { comments } = await call('comments-list', { request_id: id })
  assert.deepEqual(comments.map(({ body }) => body).toSorted(), ['All of them.\nEspecially at night.', words])

  await w.part('.foot .more').click()
  await w.part('.foot .more', { hasText: 'Link copied' }).waitFor()
  await soon('the link is in the clipboard', async () => (await tab.evaluate(() => navigator.clipboard.readText())).includes('/mine#gsl_'))
  const link = new URL(await tab.evaluate(() => navigator.clipboard.readText()))
  assert.equal(await w.part('.foot input').inputValue(), link.href)
  const elsewhere = await call('mine-list', { token: link.hash.slice(1) })
  assert.deepEqual(elsewhere.requests.map(({ title, unread }) => [title, unread]), [['Dark mode', false]])

  await w.turn.click()
  assert.equal(await w.part('h2').textContent(), 'Share an idea')
  assert.ok(await w.title.evaluate((field) => field.matches(':focus')))
  await tab.reload()
  const before = relay.count('widget-news')
  await tab.clock.fastForward(3000)
  await soon('the widget asks for news', () => relay.count('widget-news') > before)
  await named(tab, 'Ideas')
  assert.deepEqual(complaints, [])
  assert.deepEqual(await context.cookies(), [])
})

test('a browser that never asked makes no calls for news and does not load the script', async (t) => {
  const { relay, context, idle, enter } = await shop(t)
  const loaded = []
  context.on('request', (request) => loaded.push(new URL(request.url()).pathname))
  const tab = await enter()
  await tab.clock.fastForward(60 * minutes)
  const w = widget(tab)
  await w.open()
  await idle(tab)
  await w.close.click()
  assert.deepEqual(loaded.filter((path) => path.includes('mine')), [])
  assert.equal(relay.count('widget-news'), 0)
  assert.deepEqual(await tab.evaluate(() => Object.keys(localStorage).filter((name) => name.includes('reader'))), [])
})

test('only a visible page asks for news, at most every five minutes', async (t) => {
  const { app, relay, idle, enter } = await shop(t)
  const tab = await enter()
  await ask(tab, 'Quiet')
  await soon('the widget asks once', () => relay.count('widget-news') === 1)
  const show = (hidden) => tab.evaluate((hidden) => {
    Object.defineProperty(window.document, 'hidden', { configurable: true, get: () => hidden })
    window.document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
  await show(false)
  await idle(tab)
  assert.equal(relay.count('widget-news'), 1, 'not again so soon')
  await show(true)
  await decide(app, 'declined')
  await tab.clock.fastForward(30 * minutes)
  await idle(tab)
  assert.equal(relay.count('widget-news'), 1, 'not while nobody looks')
  await show(false)
  await news(tab, 1)
  assert.equal(relay.count('widget-news'), 2)
})

test('news that cannot be read cause no error, and come later', async (t) => {
  const { app, relay, enter } = await shop(t)
  const tab = await enter()
  await ask(tab, 'Patience')
  await soon('the widget asks once', () => relay.count('widget-news') === 1)
  await decide(app, 'completed')
  relay.fault = onCall('widget-news', () => 503)
  await tab.clock.fastForward(5 * minutes)
  await soon('the widget asks again', () => relay.count('widget-news') === 2)
  relay.fault = undefined
  await tab.clock.fastForward(5 * minutes)
  await news(tab, 1)
  assert.deepEqual(await recorded(tab, 'error'), [])
})

test('an idea keeps the reader of who wrote it, also when another person sends it', async (t) => {
  const { app, relay, context, enter } = await shop(t, { settings: { sharing: 'all' } })
  const tab = await enter()
  const w = widget(tab)
  await identify(tab, { external_id: 'ada' })
  await context.setOffline(true)
  await w.open()
  await w.submit('From the train')
  await w.waiting.waitFor()
  await w.close.click()
  await identify(tab, { external_id: 'bob' })
  let lost = 0
  relay.fault = onCall('widget-submit-request', () => (lost++ ? undefined : 'lose'))
  await context.setOffline(false)
  await soon('the idea is sent', async () => (await recorded(tab, 'submit')).length === 1)
  const [first, second, ...more] = sent(relay, 'widget-submit-request')
  assert.deepEqual(more, [])
  assert.deepEqual([first.reader, first.idempotency_key], [second.reader, second.idempotency_key])
  assert.match(first.idempotency_key, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  const readers = await tab.evaluate((id) => Object.fromEntries(['ada', 'bob', ''].map((name) => (
    [name, JSON.parse(localStorage.getItem(`gatherkit:reader:${id}${name}`))]
  ))), app.id)
  assert.deepEqual(readers, { ada: first.reader, bob: null, '': null })

  await w.open()
  await w.title.fill('from the train')
  await w.vote.click()
  await soon('the vote is counted', async () => (await recorded(tab, 'vote')).length === 1)
  const [{ reader }] = sent(relay, 'widget-vote')
  assert.match(reader, /^[0-9a-f]{64}$/)
  assert.notEqual(reader, first.reader)
  assert.deepEqual(await titles(relay, app, reader), [['From the train', false]])
  assert.deepEqual(await titles(relay, app, first.reader), [['From the train', true]])
})

// titles returns what a reader gets: each title, and whether the person asked for it.
async function titles(relay, app, reader) {
  const { requests } = await visitor(app, 'widget-my-requests', { reader })
  return requests.map(({ title, asked }) => [title, asked])
}

test('people on one computer do not see the ideas of each other', async (t) => {
  const { app, relay, idle, enter } = await shop(t)
  const tab = await enter()
  const w = widget(tab)
  await identify(tab, { email: 'ada@example.com' })
  await ask(tab, 'By Ada')
  await decide(app, 'planned', 'Soon.')
  await tab.clock.fastForward(5 * minutes)
  await news(tab, 1)
  await identify(tab, { email: 'ada@example.com', name: 'Ada' })
  await news(tab, 1)
  await w.open()
  await w.turn.click()
  await w.ideas.waitFor()
  await soon('the news are seen', async () => (await recorded(tab, 'news')).at(-1)[1].unread === 0)
  await decide(app, 'in_progress')
  await tab.clock.fastForward(5 * minutes)
  await soon('there are news', async () => (await recorded(tab, 'news')).at(-1)[1].unread === 1)

  await identify(tab, { email: 'bob@example.com' })
  await w.title.waitFor()
  assert.equal(await w.ideas.count(), 0)
  assert.equal(await w.turn.count(), 0)
  assert.equal(await w.part('h2').textContent(), 'Share an idea')
  await w.close.click()
  await named(tab, 'Ideas')
  await ask(tab, 'By Bob')
  await openList(w)
  assert.deepEqual(await w.part('.mine h3').allTextContents(), ['By Bob'])
  await w.close.click()

  const answered = gate()
  relay.fault = ({ operation, params }) => (operation === 'widget-news' && params.reader ? answered.opened : undefined)
  const before = relay.count('widget-news')
  await identify(tab, { email: 'ada@example.com' })
  await soon('the widget asks for Ada', () => relay.count('widget-news') > before)
  await identify(tab)
  const told = await recorded(tab, 'news')
  answered.open()
  await idle(tab)
  assert.deepEqual(await recorded(tab, 'news'), told, 'the answer for Ada came too late')
  relay.fault = undefined
  await identify(tab, { email: 'ada@example.com' })
  await news(tab, 1)
})

test('verified people find their ideas in every browser, by their token', async (t) => {
  const { app, relay, enter } = await shop(t)
  const tab = await enter()
  const token = await identityToken(app, { sub: 'u1' })
  await identify(tab, { token })
  await ask(tab, 'Signed')
  await decide(app, 'planned')
  const [submission] = sent(relay, 'widget-submit-request')
  assert.deepEqual([submission.reader, submission.identity_token], [undefined, token])

  const other = await shop(t)
  other.pages['/'] = document(tag(other.relay, app))
  const there = await other.enter()
  const w = widget(there)
  const old = await identityToken(app, { sub: 'u1', exp: Math.floor(Date.now() / 1000) - 3600 })
  await there.evaluate(([old, token]) => Gatherkit('identify', { token: old, getToken: () => token }), [old, token])
  await there.clock.fastForward(5 * minutes)
  await w.open()
  await w.turn.waitFor()
  await other.idle(there)
  assert.equal(other.relay.count('widget-news'), 0, 'this browser has not asked for anything yet')
  await w.turn.click()
  await w.ideas.waitFor()
  assert.deepEqual(await w.part('.mine h3').allTextContents(), ['Signed'])
  assert.ok(other.relay.calls.every(({ params }) => !params.reader))
  await soon('the news are seen', () => sent(other.relay, 'widget-my-requests').some(({ seen_until }) => seen_until))
  await decide(app, 'completed')
  await there.reload()
  await there.evaluate((token) => Gatherkit('identify', { token }), token)
  await there.clock.fastForward(3000)
  await news(there, 1)
})

test('the list says when it is empty, fails or goes on', async (t) => {
  const { app, relay, enter } = await shop(t)
  const tab = await enter()
  const w = widget(tab)
  await identify(tab, { token: await identityToken(app, { sub: 'nobody' }) })
  await w.open()
  await w.turn.click()
  await w.part('.mine > p', { hasText: 'You have not shared an idea yet.' }).waitFor()
  assert.equal(await w.part('.foot .more').isVisible(), false)
  await w.close.click()

  await identify(tab)
  await ask(tab, 'Idea 0')
  const [{ reader }] = sent(relay, 'widget-submit-request')
  const nouns = 'alarm bread cloud drum eagle flute grape hotel island jacket kite lemon mirror needle ocean paper queen river stone table umbrella'
  for (const noun of nouns.split(' ')) await visitor(app, 'widget-submit-request', { title: `A ${noun}`, description: '', reader })
  relay.fault = onCall('widget-my-requests', () => 503)
  await w.open()
  await w.turn.click()
  const failed = w.part('.mine > p', { hasText: 'That failed.' })
  await failed.waitFor()
  assert.ok(await failed.evaluate((note) => note.matches(':focus')))
  relay.fault = undefined
  const more = w.part('.mine > .more')
  await more.filter({ hasText: 'Try again' }).click()
  await w.ideas.nth(19).waitFor()
  await more.filter({ hasText: 'Show more' }).click()
  await w.ideas.nth(21).waitFor()
  assert.equal(await more.isVisible(), false)
  await soon('the first new idea has the focus', () => w.part('.mine h3').nth(20).evaluate((title) => title.matches(':focus')))
  assert.equal(new Set(await w.part('.mine h3').allTextContents()).size, 22)
  await w.turn.click()
  await w.turn.click()
  await w.ideas.nth(19).waitFor()
  assert.equal(await w.ideas.count(), 20)
})

test('if a reply fails, the text stays, and the service says why', async (t) => {
  const { app, relay, enter } = await shop(t)
  const tab = await enter()
  const w = widget(tab)
  await ask(tab, 'Talkative')
  const { id } = await decide(app, 'opened', 'Tell us more.')
  const { reader } = sent(relay, 'widget-submit-request')[0]
  await openList(w)
  await w.part('summary').click()
  const send = w.part('details button')
  await send.click()
  assert.ok(await w.reply.evaluate((field) => field.matches(':focus')))
  assert.equal(relay.count('widget-reply'), 0)
  await w.reply.fill('One more thing')
  relay.fault = onCall('widget-reply', () => 503)
  await send.click()
  await w.part('details [role=alert]', { hasText: 'That failed. Try again later.' }).waitFor()
  relay.fault = undefined
  await w.turn.click()
  await w.turn.click()
  await w.part('summary').click()
  assert.equal(await w.reply.inputValue(), 'One more thing')
  for (let i = 0; i < 10; i++) await visitor(app, 'widget-reply', { reader, request_id: id, body: `Reply ${i}` })
  await send.click()
  const refusal = await answer(app, 'widget-reply', { reader, request_id: id, body: 'One more thing' })
  assert.equal(refusal.error.code, 'requests.reply_not_allowed')
  await w.part('details [role=alert]', { hasText: refusal.error.message }).waitFor()
})

test('without a clipboard, the link is selected, and a refused link says why', async (t) => {
  const { relay, enter } = await shop(t)
  const tab = await enter()
  await tab.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  const w = widget(tab)
  await ask(tab, 'Without TLS')
  await openList(w)
  const button = w.part('.foot .more')
  relay.fault = onCall('widget-my-link', () => ({ status: 403, code: 'widget.origin_not_allowed', message: 'Not from here.' }))
  await button.click()
  await w.part('.foot [role=alert]', { hasText: 'Not from here.' }).waitFor()
  relay.fault = undefined
  await button.click()
  const field = w.part('.foot input')
  await field.waitFor()
  assert.match(await field.inputValue(), /^https?:\/\/.*\/mine#gsl_/)
  assert.deepEqual(await field.evaluate((field) => [field.selectionStart, field.selectionEnd]), [0, (await field.inputValue()).length])
  assert.equal(await button.textContent(), 'Copy private link')
})

test('if the script does not load, the form works, and the next opening offers the list', async (t) => {
  const { context, idle, enter } = await shop(t)
  let tab = await enter()
  await ask(tab, 'First')
  await tab.close()
  await context.route('**/widget/mine.js*', (route) => route.abort())
  tab = await enter()
  const w = widget(tab)
  await w.open()
  await idle(tab)
  assert.equal(await w.turn.count(), 0)
  await w.submit('Second')
  await w.sent.waitFor()
  await w.close.click()
  await context.unroute('**/widget/mine.js*')
  await openList(w)
  assert.deepEqual(await w.part('.mine h3').allTextContents(), ['Second', 'First'])
})

test('the launcher shows for a while that an idea was sent', async (t) => {
  const { context, enter } = await shop(t)
  const tab = await enter()
  const w = widget(tab)
  await w.open()
  await context.setOffline(true)
  await w.submit('Tunnel')
  await w.waiting.waitFor()
  await w.close.click()
  await named(tab, 'Ideas (Unsent ideas: 1)')
  await tab.clock.pauseAt(Date.now() + minutes)
  await context.setOffline(false)
  await named(tab, 'Ideas (We have received your idea.)')
  assert.equal(await w.mark.textContent(), '✓')
  await tab.clock.runFor(5000)
  await named(tab, 'Ideas')
})

// In every state, axe finds nothing, and the page does not scroll sideways.
for (const [look, options, attributes] of [
  ['light', {}, ''],
  ['dark', { colorScheme: 'dark' }, ''],
  ['320', { viewport: { width: 320, height: 640 }, hasTouch: true }, ''],
  ['arabic', {}, 'data-locale="ar"'],
  ['german', { viewport: { width: 320, height: 640 } }, 'data-locale="de"'],
  ['forced', { forcedColors: 'active' }, ''],
]) {
  test(`every state of the list: ${look}`, async (t) => {
    const { app, relay, enter } = await shop(t, { options, attributes })
    const tab = await enter()
    const w = widget(tab)
    const see = (state) => check(tab, `mine-${look}-${state}`)
    await ask(tab, 'Dark mode for the dashboard, because my eyes hurt at night')
    await decide(app, 'in_progress', 'Which screens are too bright for you?\n\nA list helps us: https://example.com/a-rather-long-address-of-a-page')
    await ask(tab, 'Export to spreadsheets')
    await decide(app, 'declined')
    await ask(tab, 'Offline reading')
    await tab.clock.fastForward(5 * minutes)
    await soon('the launcher has a dot', async () => (await w.mark.textContent()) === '●')
    await see('1-launcher')
    await w.open()
    await w.turn.waitFor()
    await see('2-form')
    await w.turn.click()
    await w.ideas.nth(2).waitFor()
    await see('3-list')
    await w.part('summary').click()
    await w.reply.fill('The inbox and the list.')
    relay.fault = onCall('widget-reply', () => 503)
    await w.part('details button').click()
    await w.part('details .error:not(:empty)').waitFor()
    await see('4-reply')
    relay.fault = undefined
    await w.part('details button').click()
    await w.part('.note').nth(1).waitFor()
    await w.part('.foot .more').click()
    await w.part('.foot input').waitFor()
    await see('5-link')
    await w.turn.click()
    relay.fault = onCall('widget-my-requests', () => 503)
    await w.turn.click()
    await w.part('.mine > .more').waitFor()
    await see('6-failed')
  })
}
