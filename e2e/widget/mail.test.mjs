// E-mail: people say in the form whether they want it. It is shown only where the service sends mail.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { some } from '../browser.mjs'
import { addApp, check, document, identityToken, kept, recorded, soon, start, stored, tag, widget } from './harness.mjs'

const submission = 'widget-submit-request'

// shop starts a site whose service says that it sends mail, unless mail is false.
async function shop(t, { mail = true, settings = {}, options = {}, attributes = '' } = {}) {
  const app = await addApp({ widget: settings })
  const made = await start(t, { options })
  const { context, pages, relay } = made
  const config = await (await fetch(`${relay.url}/widget/config/${app.key}.json`)).json()
  assert.equal(config.mail ?? false, false)
  await context.route('**/widget/config/*.json', (route) => route.fulfill({
    json: { ...config, mail }, headers: { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' },
  }))
  pages['/'] = document(tag(relay, app, attributes))
  const tab = await made.visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  const sent = () => relay.calls.filter(({ operation }) => operation === submission).map(({ params }) => params)
  return { app, tab, w, tick: w.part('[type=checkbox]'), sent, ...made }
}

test('a service without mail offers none', async (t) => {
  const { w, tick, sent } = await shop(t, { mail: false })
  await w.open()
  assert.ok(await w.email.isVisible())
  assert.equal(await tick.isVisible(), false)
  await w.submit('No mail')
  await w.sent.waitFor()
  assert.equal('notify' in sent()[0], false)
})

test('the tick is off, and sends nothing until it is on', async (t) => {
  const { w, tick, sent, tab } = await shop(t, { attributes: 'data-locale="pt-BR"' })
  await w.open()
  assert.ok(await tick.isVisible())
  assert.equal(await tick.isChecked(), false)
  await w.email.fill('ada@example.com')
  await w.submit('Quiet')
  await w.sent.waitFor()
  assert.deepEqual([sent()[0].email, 'notify' in sent()[0], 'locale' in sent()[0]], ['ada@example.com', false, false])
  await w.again.click()
  await tick.check()
  await w.submit('Loud')
  await w.sent.waitFor()
  assert.deepEqual([sent()[1].email, sent()[1].notify, sent()[1].locale], ['ada@example.com', true, 'pt'])
  await w.again.click()
  assert.equal(await tick.isChecked(), false, 'each idea is asked for again')
  // Only the person ticks it, not the page.
  await w.close.click()
  await tab.evaluate(() => Gatherkit('open', { prefill: { title: 'Prefilled', notify: true } }))
  await soon('the form is filled', async () => (await w.title.inputValue()) === 'Prefilled')
  assert.equal(await tick.isChecked(), false)
})

test('the wish survives an offline period and a reload, in the draft and in the outbox', async (t) => {
  const { app, w, tick, tab, sent, context, visit } = await shop(t, { attributes: 'data-locale="de"' })
  await w.open()
  await w.title.fill('Tunnel')
  await w.email.fill('ada@example.com')
  await tick.check()
  await tab.reload()
  await w.open()
  await soon('the draft is back', async () => (await w.title.inputValue()) === 'Tunnel')
  assert.ok(await tick.isChecked())
  await context.setOffline(true)
  await w.send.click()
  await w.waiting.waitFor()
  const [{ fields }] = await kept(tab)
  assert.deepEqual([fields.notify, fields.locale], [true, 'de'])
  await tab.close()
  assert.deepEqual(sent(), [])
  await context.setOffline(false)
  const next = await visit('/')
  await soon('the idea is sent', async () => (await recorded(next, 'submit')).length === 1)
  assert.deepEqual(sent().map(({ notify, locale }) => [notify, locale]), [[true, 'de']])
  assert.deepEqual((await stored(app)).map(({ title }) => title), ['Tunnel'])
})

test('a refused idea comes back with the tick', async (t) => {
  const { w, tick, relay } = await shop(t)
  relay.fault = ({ operation }) => (operation === submission ? { status: 400, code: 'widget.invalid_title', message: 'Another one.' } : undefined)
  await w.open()
  await w.email.fill('ada@example.com')
  await tick.check()
  await w.submit('Refused')
  await w.alert.waitFor()
  assert.equal(await w.title.inputValue(), 'Refused')
  assert.ok(await tick.isChecked())
})

test('mail needs an address', async (t) => {
  const { w, tick, sent } = await shop(t)
  const problem = w.part('#email-problem')
  const optional = w.part('label[for=email] small')
  await w.open()
  assert.deepEqual([await optional.isVisible(), await w.email.getAttribute('aria-required')], [true, 'false'])
  await tick.check()
  assert.deepEqual([await optional.isVisible(), await w.email.getAttribute('aria-required')], [false, 'true'])
  assert.equal(await problem.isVisible(), false, 'it complains too early')
  await w.submit('Where to')
  await problem.waitFor()
  assert.equal(await problem.textContent(), 'Enter your e-mail.')
  assert.ok(await w.email.evaluate((field) => field.matches(':focus')))
  await w.email.fill('nobody')
  await w.send.click()
  assert.match(await problem.textContent(), /ada@example\.com/)
  await tick.uncheck()
  await w.email.fill('')
  await tick.check()
  await w.send.click()
  await problem.waitFor()
  await tick.uncheck()
  assert.equal(await problem.isVisible(), false)
  assert.equal(await optional.isVisible(), true)
  assert.deepEqual(sent(), [])
  await w.send.click()
  await w.sent.waitFor()
  assert.equal('notify' in sent()[0], false)
})

test('without the e-mail field, only verified people can ask for mail', async (t) => {
  const { app, w, tick, sent, tab } = await shop(t, { settings: { show_email_field: false } })
  await w.open()
  assert.deepEqual([await w.email.isVisible(), await tick.isVisible()], [false, false])
  await w.close.click()
  await tab.evaluate(() => Gatherkit('identify', { email: 'ada@example.com' }))
  await w.open()
  assert.equal(await tick.isVisible(), false)
  await w.close.click()
  const token = await identityToken(app, { sub: 'u1', email: 'ada@example.com' })
  await tab.evaluate((token) => Gatherkit('identify', { token }), token)
  await w.open()
  assert.deepEqual([await w.email.isVisible(), await tick.isVisible()], [false, true])
  await tick.check()
  await w.submit('Verified')
  await w.sent.waitFor()
  assert.deepEqual([sent()[0].notify, sent()[0].locale, sent()[0].identity_token], [true, 'en', token])
})

test('the keyboard reaches the tick after the e-mail field', async (t) => {
  const { w, tick, tab, sent } = await shop(t)
  await w.open()
  await w.title.fill('By key')
  await w.email.fill('ada@example.com')
  await tab.keyboard.press('Tab')
  assert.ok(await tick.evaluate((field) => field.matches(':focus-visible')))
  await tab.keyboard.press('Space')
  assert.ok(await w.dialog.getByRole('checkbox', { name: 'E-mail me updates', exact: true }).isChecked())
  await tab.keyboard.press('Enter')
  await w.sent.waitFor()
  assert.equal(sent()[0].notify, true)
})

for (const [name, options] of some([
  ['narrow', { viewport: { width: 320, height: 640 } }], ['light', {}], ['dark', { colorScheme: 'dark' }],
  ['forced', { forcedColors: 'active' }],
], 1)) {
  test(`the tick is accessible: ${name}`, async (t) => {
    const attributes = name === 'narrow' ? 'data-locale="de"' : name === 'dark' ? 'data-theme="dark"' : ''
    const { w, tick, tab } = await shop(t, { options, attributes })
    await w.open()
    await check(tab, `mail-off-${name}`)
    await tick.check()
    await w.submit('Accessible')
    await w.part('#email-problem').waitFor()
    await check(tab, `mail-${name}`)
    const { height, width } = await w.part('.tick').boundingBox()
    assert.ok(height >= 44 && width > 100, 'the label is too small to touch')
  })
}
