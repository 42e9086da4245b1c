// The mark on the launcher: how many ideas wait to be sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { some } from '../browser.mjs'
import { addApp, check, document, gate, kept, recorded, soon, start, stored, tag, widget } from './harness.mjs'

const onSubmit = (fault) => ({ operation }) => (operation === 'widget-submit-request' ? fault() : undefined)

async function shop(t, { attributes = '', options } = {}) {
  const app = await addApp({ widget: { button_text: 'Ideas' } })
  const made = await start(t, { options })
  made.pages['/'] = document(tag(made.relay, app, attributes))
  const tab = await made.visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  return { app, tab, w, ...made }
}

// named waits until the launcher has a name, as screen readers get it.
const named = (tab, name) => tab.getByRole('button', { name, exact: true }).waitFor()

async function save(w, title) {
  await w.open()
  await w.submit(title)
  await w.waiting.waitFor()
  await w.close.click()
}

for (const [look, options] of some([
  ['320', { viewport: { width: 320, height: 640 } }],
  ['light', {}], ['dark', { colorScheme: 'dark' }], ['forced', { forcedColors: 'active' }],
], 1)) {
  test(`the launcher shows how many ideas wait: ${look}`, async (t) => {
    const { app, tab, w, context } = await shop(t, { options })
    const place = await w.launcher.boundingBox()
    assert.equal(await w.mark.isVisible(), false)
    await named(tab, 'Ideas')
    await context.setOffline(true)
    await save(w, 'First')
    await named(tab, 'Ideas (Unsent ideas: 1)')
    await save(w, 'Second')
    await named(tab, 'Ideas (Unsent ideas: 2)')
    assert.ok(await w.mark.isVisible())
    assert.deepEqual(await w.launcher.boundingBox(), place, 'the launcher moves')
    await check(tab, `waiting-${look}`)
    await context.setOffline(false)
    await named(tab, 'Ideas')
    assert.equal(await w.mark.isVisible(), false)
    assert.deepEqual((await stored(app)).map(({ title }) => title), ['First', 'Second'])
  })
}

test('after a reload, the mark needs neither the service nor the second script', async (t) => {
  const { app, context, tab, w, relay } = await shop(t)
  relay.fault = onSubmit(() => 503)
  await save(w, 'In an outage')
  await named(tab, 'Ideas (Unsent ideas: 1)')
  relay.fault = ({ url }) => (url === '/widget.js' ? undefined : 503)
  let refused = 0
  await context.route('**/widget/extras.js*', (route) => (refused++, route.abort()))
  await tab.reload()
  await named(tab, 'Ideas (Unsent ideas: 1)')
  await soon('the second script is asked for', () => refused > 0)
  assert.ok(await w.mark.isVisible())
  relay.fault = undefined
  await context.unroute('**/widget/extras.js*')
  await tab.evaluate(() => dispatchEvent(new Event('online')))
  await named(tab, 'Ideas')
  assert.deepEqual((await stored(app)).map(({ title }) => title), ['In an outage'])
})

test('the second script loads only while ideas are unsent, or the panel is open', async (t) => {
  const { tab, w, relay, idle } = await shop(t)
  let loaded = 0
  tab.on('request', (request) => void (loaded += request.url().includes('/widget/extras.js')))
  const visits = async () => {
    loaded = 0
    await tab.reload()
    await w.launcher.waitFor()
    await idle(tab)
    return loaded
  }
  assert.equal(await visits(), 0)
  await w.open()
  await w.close.click()
  await idle(tab)
  assert.equal(await visits(), 0, 'the panel was only opened')
  relay.fault = onSubmit(() => 503)
  await save(w, 'In an outage')
  await named(tab, 'Ideas (Unsent ideas: 1)')
  relay.fault = undefined
  assert.equal(await visits(), 1, 'an idea is unsent')
  await named(tab, 'Ideas')
  assert.equal(await visits(), 0, 'everything is sent')
})

test('the mark is the same in all tabs', async (t) => {
  const { context, tab, w, visit } = await shop(t)
  const other = await visit('/')
  await named(other, 'Ideas')
  await context.setOffline(true)
  await save(w, 'Offline')
  for (const each of [tab, other]) await named(each, 'Ideas (Unsent ideas: 1)')
  await context.setOffline(false)
  for (const each of [tab, other]) await named(each, 'Ideas')
})

test('an idea that the service refuses has another mark until the form takes it back', async (t) => {
  const { tab, w, relay } = await shop(t)
  const answered = gate()
  relay.fault = onSubmit(() => answered.opened.then(() => ({ status: 400, code: 'widget.invalid_title', message: 'No.' })))
  await w.open()
  await w.submit('Weather')
  await soon('the idea is sent', () => relay.count('widget-submit-request') === 1)
  await tab.reload()
  await named(tab, 'Ideas (Unsent ideas: 1)')
  answered.open()
  await named(tab, 'Ideas (Your idea was not accepted)')
  assert.equal(await w.mark.textContent(), '!')
  await check(tab, 'waiting-refused')
  await w.open()
  await w.alert.waitFor()
  await w.close.click()
  await named(tab, 'Ideas')
})

test('an idea that is sent at once never counts as unsent, and a late text does not bring a mark back', async (t) => {
  const { app, tab, w, pages, relay, idle } = await shop(t)
  const watch = () => tab.evaluate(() => {
    window.marks = []
    const { shadowRoot } = window.document.querySelector('gatherkit-widget')
    const mark = shadowRoot.querySelector('.mark')
    new MutationObserver(() => window.marks.push(mark.textContent)).observe(mark, { childList: true })
  })
  const signs = () => tab.evaluate(() => window.marks.filter(Boolean))
  await watch()
  await w.open()
  await w.submit('At once')
  await w.sent.waitFor()
  await idle(tab)
  assert.deepEqual(await signs(), ['✓'])

  relay.fault = onSubmit(() => 503)
  await w.again.click()
  await w.submit('Later')
  await w.waiting.waitFor()
  const texts = gate()
  relay.fault = ({ url }) => (url.startsWith('/widget/locales/') ? texts.opened : undefined)
  pages['/'] = document(tag(relay, app, 'data-locale="de"'))
  await tab.reload()
  await w.launcher.waitFor()
  await watch()
  await soon('the idea is sent', async () => (await recorded(tab, 'submit')).length === 1)
  assert.deepEqual(await kept(tab), []) // also waits until the widget has read the same
  texts.open()
  await idle(tab)
  assert.deepEqual((await signs()).filter((sign) => sign !== '✓'), [])
})

test('the text of the mark has the language of the widget and can be changed', async (t) => {
  const { context, tab, w } = await shop(t, { attributes: 'data-locale="de"' })
  await w.open() // loads the texts
  await w.close.click()
  await context.setOffline(true)
  await save(w, 'Dunkel')
  await named(tab, 'Ideas (Nicht gesendete Ideen: 1)')
  assert.equal(await w.mark.getAttribute('title'), 'Nicht gesendete Ideen: 1')
  await tab.evaluate(() => Gatherkit('set', { strings: { unsent: '{count} warten' } }))
  await named(tab, 'Ideas (1 warten)')
})
