// The form: what is wrong stays visible, it needs no form submission, and its names can be read.
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { some } from '../browser.mjs'
import { addApp, call, document, gate, onCall, recorded, soon, start, stored, tag, widget } from './harness.mjs'

const size = { width: 1280, height: 800 }
const full = { widget: { allow_file_uploads: true }, sharing: 'all' }
const screenshots = process.env.SCREENSHOTS

async function shop(t, { settings = full, options = {}, attributes = '' } = {}) {
  const app = await addApp(settings)
  const made = await start(t, { options: { viewport: size, ...options } })
  made.pages['/'] = document(tag(made.relay, app, attributes))
  const tab = await made.visit('/')
  const w = widget(tab)
  const see = (name) => screenshots && tab.screenshot({ path: path.join(screenshots, `widget-form-${name}.png`) })
  return { app, tab, w, see, ...made }
}

// suggest adds ideas that are similar to "Dark mode".
async function suggest(app, count) {
  const long = 'mobile app, where it would help the many people who read their invoices in bed and do not want to wake anybody'
  const places = ['dashboard', long, 'reports', 'editor', 'e-mails', 'printer']
  for (const place of places.slice(0, count)) {
    await call('requests-create', { app_id: app.id, title: `Dark mode for the ${place}`, description: '' })
  }
}

// uncovered returns whether a person can see the whole element: nothing covers its corners.
const uncovered = (part) => part.evaluate((element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  if (bottom - top < 1) return false
  const root = element.getRootNode()
  const [x, y] = [(left + right) / 2, (top + bottom) / 2]
  return [[left + 1, y], [right - 1, y], [x, top + 1], [x, bottom - 1]].every(([x, y]) => {
    const seen = root.elementFromPoint(x, y)
    return seen === element || element.contains(seen)
  })
})

test('a vote is shown, and keeps the focus, if the list changes before the answer', async (t) => {
  const { app, tab, w, relay } = await shop(t)
  await suggest(app, 1)
  await w.open()
  await w.title.fill('Dark mode')
  await w.vote.waitFor()
  const { open, opened } = gate()
  relay.fault = onCall('widget-vote', () => opened)
  await w.vote.click()
  await soon('the vote is sent', () => relay.count('widget-vote') === 1)
  await call('requests-create', { app_id: app.id, title: 'Dark mode for the printer', description: '' })
  await w.title.evaluate((field) => {
    field.value = 'Dark mode please'
    field.dispatchEvent(new Event('input', { bubbles: true }))
  })
  await w.vote.nth(1).waitFor()
  open()
  await soon('the vote is counted', async () => (await recorded(tab, 'vote')).length === 1)
  const voted = w.part('.similar li', { hasText: 'dashboard' }).locator('.vote[aria-pressed=true]')
  await voted.waitFor()
  assert.match(await voted.textContent(), /1$/)
  assert.equal(await voted.evaluate((button) => button.getRootNode().activeElement === button), true)
})

test('after a vote, the person can leave without what was typed', async (t) => {
  const { app, tab, w, see } = await shop(t)
  await suggest(app, 1)
  await w.open()
  await w.title.fill('Dark mode')
  const thanks = w.part('.thanks')
  await w.vote.waitFor()
  assert.ok(!await thanks.isVisible())
  await w.vote.click()
  await thanks.getByText("Counted. We'll show news here.").waitFor()
  await see('voted')
  await w.vote.click()
  await thanks.waitFor({ state: 'hidden' })
  await w.vote.click()
  await thanks.getByRole('button', { name: 'Done' }).click()
  await w.dialog.waitFor({ state: 'hidden' })
  await w.open()
  assert.equal(await w.title.inputValue(), '')
  await tab.reload()
  await w.open()
  assert.equal(await w.title.inputValue(), '')
  assert.deepEqual((await stored(app)).map(({ title }) => title), ['Dark mode for the dashboard'])
})

test('the second tap of two on a vote does not count for the request that has moved below it', async (t) => {
  const { app, w, relay } = await shop(t, { options: { viewport: { width: 390, height: 844 } } })
  await suggest(app, 2)
  await w.open()
  await w.title.fill('Dark mode')
  await w.vote.nth(1).waitFor()
  const votes = () => relay.calls.filter(({ operation }) => operation === 'widget-vote').map(({ params }) => params.request_id)
  await w.vote.evaluateAll(([first, second]) => {
    first.click()
    second.click()
  })
  await w.part('.thanks').waitFor()
  assert.equal(votes().length, 1)
  assert.equal(await w.vote.nth(1).getAttribute('aria-pressed'), 'false')
})

test('a failed vote says so, and what is typed afterwards is not discarded', async (t) => {
  const { app, w, relay, see } = await shop(t)
  await suggest(app, 1)
  await w.open()
  await w.title.fill('Dark mode')
  await w.vote.waitFor()
  await w.part('.similar').getByText('A vote also sends what you typed.').waitFor()
  relay.fault = onCall('widget-vote', () => 'cut')
  await w.vote.click()
  await w.part('.thanks').getByText('Your vote failed. Try again later.').waitFor()
  await see('vote-failed')
  assert.ok(!await w.part('.thanks button').isVisible())
  relay.fault = undefined
  await w.vote.click()
  await w.part('.thanks').getByRole('button', { name: 'Done' }).waitFor()
  await w.description.fill('For the nights.')
  await w.part('.thanks').waitFor({ state: 'hidden' })
})

test('what a person has voted for is marked after a reload', async (t) => {
  const { app, tab, w } = await shop(t)
  await suggest(app, 2)
  await w.open()
  await w.title.fill('Dark mode')
  const of = (place) => w.part('.similar li', { hasText: place }).locator('.vote')
  await of('dashboard').click()
  await soon('the vote is counted', async () => (await recorded(tab, 'vote')).length === 1)
  await tab.reload()
  await w.open()
  await w.title.fill('Dark mode please')
  await of('dashboard').waitFor()
  assert.equal(await of('dashboard').getAttribute('aria-pressed'), 'true')
  assert.equal(await of('mobile').getAttribute('aria-pressed'), 'false')
  await of('dashboard').click()
  await soon('the vote is withdrawn', async () => await of('dashboard').getAttribute('aria-pressed') === 'false')

  // Somebody whose token is refused still sees what is similar.
  await tab.evaluate(() => Gatherkit('identify', { token: 'refused' }))
  await w.title.fill('Dark mode now')
  await of('dashboard').waitFor()
})

for (const [name, viewport] of [['1280', size], ['320', { width: 320, height: 480 }]]) {
  test(`the message of an invalid field is visible above the footer: ${name}`, async (t) => {
    const { app, w, see } = await shop(t, { options: { viewport } })
    await suggest(app, 5)
    await w.open()
    await w.title.fill('Dark mode')
    await w.vote.nth(1).waitFor()
    const problem = w.part('#email-problem')
    for (const send of ['Enter', 'click']) {
      await w.email.fill('nobody')
      // Only the field is above the footer, with no room for a message.
      await w.email.evaluate((field) => {
        const foot = field.getRootNode().querySelector('.foot')
        const body = foot.closest('.body')
        body.scrollTop += field.getBoundingClientRect().bottom - foot.getBoundingClientRect().top
      })
      if (send === 'click') await w.send.click()
      else await w.email.press(send)
      await problem.waitFor()
      await see(`message-${name}-${send}`)
      assert.ok(await uncovered(problem), `the message is hidden after ${send}`)
      assert.ok(await uncovered(w.email), `the field is hidden after ${send}`)
      assert.ok(await w.email.evaluate((field) => field.matches(':focus')))
    }
    await w.title.fill(' ')
    await w.email.press('Enter')
    assert.ok(await uncovered(w.part('#title-problem')))
    assert.ok(await uncovered(w.title))
  })
}

for (const [name, options] of [
  ['light', {}], ['dark', { colorScheme: 'dark' }], ['forced', { forcedColors: 'active' }],
  ['forced-dark', { forcedColors: 'active', colorScheme: 'dark' }],
]) {
  test(`a focused invalid field looks invalid: ${name}`, async (t) => {
    const { w, see } = await shop(t, { options })
    await w.open()
    const look = (part) => part.evaluate((field) => {
      const { borderTopColor, borderInlineStartWidth } = getComputedStyle(field)
      return { color: borderTopColor, edge: parseFloat(borderInlineStartWidth), height: field.offsetHeight }
    })
    await w.title.fill('Idea')
    await w.email.fill('nobody')
    const valid = await look(w.email)
    await w.send.click()
    const problem = w.part('#email-problem')
    await problem.waitFor()
    await see(`invalid-${name}`)
    assert.ok(await w.email.evaluate((field) => field.matches(':focus')))
    const invalid = await look(w.email)
    assert.ok(invalid.edge >= valid.edge + 3, 'only the color differs')
    assert.equal(invalid.height, valid.height, 'the field changes its size')
    if (!options.forcedColors) assert.equal(invalid.color, await problem.evaluate((element) => getComputedStyle(element).color))
  })
}

test('the widget sends in a sandboxed frame that allows only scripts', async (t) => {
  const { app, pages, visit } = await shop(t)
  pages['/frame'] = document('<iframe sandbox="allow-scripts" src="/" style="width: 900px; height: 700px"></iframe>')
  const w = widget((await visit('/frame')).frameLocator('iframe'))
  await w.open()
  await w.submit('By click')
  await w.sent.waitFor()
  await w.again.click()
  await w.title.fill('By key')
  await w.title.press('Enter')
  await w.sent.waitFor()
  assert.deepEqual((await stored(app)).map(({ title }) => title), ['By click', 'By key'])
})

test('Enter sends in the fields of one line, and only there', async (t) => {
  const { app, context, tab, w, relay } = await shop(t)
  await w.open()
  await w.title.fill('Typed')
  // An input method uses Enter to choose a word. Browsers report it with this code.
  const session = await context.newCDPSession(tab)
  await session.send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Enter', windowsVirtualKeyCode: 229 })
  await w.description.fill('One')
  await w.description.press('Enter')
  await w.description.press('2')
  await w.part('.add').focus()
  assert.equal(await w.description.inputValue(), 'One\n2')
  assert.equal(relay.count('widget-submit-request'), 0)
  await w.email.fill('ada@example.com')
  await w.email.press('Enter')
  await w.sent.waitFor()
  assert.deepEqual((await stored(app)).map(({ title, description }) => [title, description]), [['Typed', 'One\n2']])
})

test('Ctrl+Enter and ⌘Enter send the details', async (t) => {
  const { app, tab, w } = await shop(t)
  await w.open()
  for (const [n, key] of ['Control', 'Meta'].entries()) {
    if (n) await w.again.click()
    await w.title.fill(key)
    await w.description.fill('One')
    await w.part('.add').waitFor() // with the second script
    await w.description.press(`${key}+Enter`)
    await w.sent.waitFor()
  }
  assert.deepEqual((await stored(app)).map(({ title }) => title).sort(), ['Control', 'Meta'])
})

for (const [locale, title, description, email] of some([
  ['en', 'Your idea', 'Details (optional)', 'E-mail (optional)'],
  ['de', 'Ihre Idee', 'Details (optional)', 'E-Mail (optional)'],
  ['ja', 'アイデア', '詳細 （任意）', 'メールアドレス （任意）'],
], 1)) {
  test(`fields and buttons have readable names: ${locale}`, async (t) => {
    const { app, w } = await shop(t, { attributes: `data-locale="${locale}"` })
    await suggest(app, 1)
    await w.open()
    for (const name of [title, description, email]) {
      assert.equal(await w.dialog.getByRole('textbox', { name, exact: true }).count(), 1, name)
    }
    await w.title.fill('Dark mode')
    await w.vote.first().waitFor()
    await w.vote.first().click()
    await soon('the vote is counted', async () => (await w.vote.first().getAttribute('aria-pressed')) === 'true')
    if (locale !== 'en') return
    const names = ['Close', 'Add files or drop or paste them here', 'Send idea', 'Vote for Dark mode for the dashboard, 1']
    for (const name of names) assert.equal(await w.dialog.getByRole('button', { name, exact: true }).count(), 1, name)
  })
}

test('the form stays visible below many suggestions', async (t) => {
  const { app, tab, w, see } = await shop(t)
  const more = w.part('summary')
  await suggest(app, 2)
  await w.open()
  await w.title.fill('Dark mod')
  await w.vote.nth(1).waitFor()
  assert.equal(await more.isVisible(), false)
  const heights = await w.part('.similar li > span').evaluateAll((all) => all.map((span) => span.offsetHeight))
  assert.ok(Math.max(...heights) < 2.5 * Math.min(...heights), 'a long title takes more than two lines')
  await suggest(app, 6)
  await w.title.fill('Dark mode')
  await more.waitFor()
  await see('suggestions')
  for (const locale of ['de', 'fr', 'es', 'it', 'nl', 'pt', 'ja', 'zh', 'ar', 'en']) {
    await w.close.click()
    await tab.evaluate((locale) => Gatherkit('set', { locale }), locale)
    await w.open()
    await more.waitFor()
    for (const name of ['title', 'description', 'email', 'send']) assert.ok(await uncovered(w[name]), `${locale}: ${name} is hidden`)
  }
  const visible = () => w.vote.evaluateAll((all) => all.filter((button) => button.checkVisibility()).length)
  assert.equal(await visible(), 2)
  assert.equal(await more.textContent(), 'More')
  await more.focus()
  await tab.keyboard.press('Enter')
  assert.equal(await visible(), 5)
  await see('suggestions-more')
})

test('a long title is searched by its beginning', async (t) => {
  const { app, w, relay } = await shop(t)
  await suggest(app, 1)
  await w.open()
  const title = 'Dark mode for the dashboard ' + '🌙'.repeat(300)
  await w.title.fill(title)
  await w.vote.waitFor()
  const { params } = relay.calls.find(({ operation }) => operation === 'widget-similar-requests')
  assert.equal(params.text, [...title].slice(0, 200).join(''))
  await w.vote.click()
  await w.part('.thanks').getByText('Counted.').waitFor()
})

test('a selection that is dragged out of the panel does not close it', async (t) => {
  const { tab, w } = await shop(t)
  await w.open()
  await w.title.fill('Dark mode for the dashboard')
  const { x, y, width, height } = await w.title.boundingBox()
  await tab.mouse.move(x + width - 30, y + height / 2)
  await tab.mouse.down()
  await tab.mouse.move(x - 100, y + height / 2, { steps: 5 })
  await tab.mouse.up()
  assert.ok(await w.dialog.isVisible())
  await tab.mouse.click(x - 100, y + height / 2)
  await w.dialog.waitFor({ state: 'hidden' })
})

const everything = { widget: { allow_file_uploads: true, show_email_field: true }, sharing: 'all' }
for (const [name, settings] of [['only texts', { sharing: 'all' }], ['everything', everything]]) {
  for (const [width, height] of [[390, 844], [320, 568], [1280, 800]]) {
    test(`nothing moves when similar ideas appear: ${name}, ${width} pixels`, async (t) => {
      const { app, w, see } = await shop(t, { settings, options: { viewport: { width, height } } })
      await suggest(app, 3)
      await w.open()
      await w.part('.similar').waitFor({ state: 'attached' })
      const places = async () => [await w.dialog.boundingBox(), await w.title.boundingBox(), await w.send.boundingBox()]
      const before = await places()
      await see(`calm-${name}-${width}`)
      await w.title.pressSequentially('Dark mode')
      await w.vote.first().waitFor()
      assert.deepEqual(await places(), before)
      await see(`calm-${name}-${width}-found`)
      await w.title.fill('')
      await w.vote.first().waitFor({ state: 'hidden' })
      assert.deepEqual(await places(), before)
    })
  }
}

test('a message about the whole form is visible, too', async (t) => {
  const { relay, tab, w } = await shop(t, { options: { viewport: { width: 320, height: 480 } } })
  relay.fault = ({ operation }) => (operation === 'widget-submit-request' ? refusal : undefined)
  const refusal = { status: 400, code: 'widget.invalid_title', message: 'title must be about the shop.' }
  await w.open()
  await w.submit('Weather')
  await w.alert.waitFor()
  assert.ok(await uncovered(w.alert))
  // With a full disk or too many unsent ideas, the widget cannot save this one.
  await tab.evaluate(() => (IDBFactory.prototype.open = () => { throw new Error('full') }))
  await tab.evaluate(() => (Map.prototype.set = () => { throw new Error('full') }))
  await w.description.fill('It rains.')
  await w.email.focus()
  await w.email.press('Enter')
  await soon('the message appears', async () => /Too many unsent ideas/.test(await w.alert.textContent()))
  assert.ok(await uncovered(w.alert))
})
