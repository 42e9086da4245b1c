// The API for pages: commands, options and events, also in single-page apps and as a module.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addApp, document, policy, recorded, soon, start, stored, tag, widget } from './harness.mjs'

// The message for a tag that has no key and that no queued call boots.
const hint = "console: Gatherkit: call Gatherkit('boot', { key, base })"

const stub = 'window.Gatherkit = window.Gatherkit || function () { (Gatherkit.q = Gatherkit.q || []).push(arguments) }'

test('commands before the script has loaded are not lost', async (t) => {
  const app = await addApp()
  const { relay, pages, visit } = await start(t)
  pages['/'] = document(`<script>${stub}
    window.heard = []
    Gatherkit('on', 'ready', (detail) => heard.push(['ready', detail.app_id]))
    Gatherkit('on', 'submit', (detail) => heard.push(['submit', detail.request.title]))
    Gatherkit('set', { prefill: { title: 'Prepared' }, strings: { send: 'Go!' }, metadata: { plan: 'pro' } })
    Gatherkit('identify', { email: 'ada@example.com', name: 'Ada', external_id: 'u1' })
    Gatherkit('open')
    </script>${tag(relay, app)}`)
  const tab = await visit('/')
  const w = widget(tab)
  await w.dialog.waitFor()
  assert.equal(await w.send.textContent(), 'Go!')
  assert.equal(await w.email.isVisible(), false)
  await soon('the title is filled in', async () => (await w.title.inputValue()) === 'Prepared')
  await w.send.click()
  await w.sent.waitFor()
  assert.deepEqual(await tab.evaluate(() => window.heard), [['ready', app.id], ['submit', 'Prepared']])
  const [{ submitter, metadata }] = await stored(app)
  assert.deepEqual(submitter, { email: 'ada@example.com', name: 'Ada', external_id: 'u1', verified: false })
  assert.equal(metadata.plan, 'pro')
  assert.match(metadata.user_agent, /Chrome/)
})

test('a single-page app boots, opens, closes, destroys and boots again', async (t) => {
  const app = await addApp()
  const { relay, pages, complaints, idle, visit } = await start(t)
  pages['/'] = document(`<button id="mine">Ideas</button><script src="${relay.url}/widget.js"></script>`)
  const tab = await visit('/')
  const w = widget(tab)
  assert.equal(await tab.locator('gatherkit-widget').count(), 0)
  for (let round = 0; round < 2; round++) {
    await tab.evaluate((key) => {
      for (let i = 0; i < 3; i++) Gatherkit('boot', { key, trigger: '#mine' })
      Gatherkit('on', 'close', (window.listener = () => (window.closings = (window.closings ?? 0) + 1)))
    }, app.key)
    await w.launcher.waitFor()
    assert.equal(await tab.locator('gatherkit-widget').count(), 1)
    await tab.click('#mine')
    await w.dialog.waitFor()
    await tab.evaluate(() => Gatherkit('close'))
    await w.dialog.waitFor({ state: 'hidden' })
    await soon('the listener is called', async () => (await tab.evaluate(() => window.closings)) === round + 1)
    assert.ok(await tab.evaluate(() => window.document.activeElement.id === 'mine'), 'the focus does not return')
    await tab.evaluate(() => Gatherkit('destroy'))
    assert.equal(await tab.locator('gatherkit-widget').count(), 0)
  }
  await tab.click('#mine')
  await tab.evaluate(() => {
    Gatherkit('open')
    dispatchEvent(new Event('online'))
  })
  await idle(tab)
  assert.equal(await tab.locator('gatherkit-widget').count(), 0)
  const events = (await recorded(tab, 'ready', 'open', 'close')).map(([name]) => name)
  assert.deepEqual(events, ['ready', 'open', 'close', 'ready', 'open', 'close'])
  assert.deepEqual(complaints, [hint])
})

test('a queued call that fails does not stop the ones after it', async (t) => {
  const app = await addApp()
  const { relay, pages, complaints, visit } = await start(t)
  pages['/'] = document(`<script>
    window.Gatherkit ??= function () { (Gatherkit.q ??= []).push(arguments) }
    Gatherkit('open', null)
    Gatherkit('set', { metadata: { plan: 'pro' } })
  </script>${tag(relay, app)}`)
  const tab = await visit('/')
  const w = widget(tab)
  await w.open()
  await w.submit('After a failure')
  await w.sent.waitFor()
  assert.equal((await stored(app))[0].metadata.plan, 'pro')
  assert.match(complaints.join('\n'), /^error: .*null.*$/)
})

test('off removes a listener, and a listener that throws does not affect others', async (t) => {
  const app = await addApp()
  const { relay, pages, visit } = await start(t, { quiet: false })
  pages['/'] = document(tag(relay, app, 'data-launcher="none"'))
  const tab = await visit('/')
  await soon('the widget is ready', async () => (await recorded(tab, 'ready')).length === 1)
  await tab.evaluate(() => {
    window.heard = []
    const gone = () => heard.push('gone')
    Gatherkit('on', 'open', gone)
    Gatherkit('on', 'open', () => { throw new Error('the page has a fault') })
    Gatherkit('on', 'open', () => heard.push('kept'))
    Gatherkit('off', 'open', gone)
    Gatherkit('open')
  })
  const w = widget(tab)
  await w.dialog.waitFor()
  assert.equal(await w.launcher.isVisible(), false)
  assert.deepEqual(await tab.evaluate(() => window.heard), ['kept'])
})

test('two apps on one page', async (t) => {
  const [one, two] = [await addApp({ widget: { button_text: 'One' } }), await addApp({ widget: { button_text: 'Two' } })]
  const { relay, pages, visit } = await start(t)
  pages['/'] = document(tag(relay, one) + tag(relay, two))
  const tab = await visit('/')
  await soon('both widgets are ready', async () => (await recorded(tab, 'ready')).length === 2)
  const names = await tab.locator('gatherkit-widget .launcher').allTextContents()
  assert.deepEqual(names.toSorted(), ['One', 'Two'])
  const boxes = await Promise.all([0, 1].map((i) => widget(tab, i).launcher.boundingBox()))
  assert.ok(Math.abs(boxes[0].y - boxes[1].y) >= 48, 'one launcher covers the other')
  await tab.evaluate(({ key }) => {
    window.heard = []
    Gatherkit('on', 'submit', (detail) => heard.push(detail.key), { key })
    Gatherkit('set', { prefill: { title: 'For two' } }, { key })
    Gatherkit('open', { key })
  }, two)
  const w = widget(tab, names.indexOf('Two'))
  await w.dialog.waitFor()
  await soon('the title is filled in', async () => (await w.title.inputValue()) === 'For two')
  await w.send.click()
  await w.sent.waitFor()
  await w.close.click()
  const other = widget(tab, names.indexOf('One'))
  await other.open()
  assert.equal(await other.title.inputValue(), '')
  await other.submit('For one')
  await other.sent.waitFor()
  assert.deepEqual(await tab.evaluate(() => window.heard), [two.key])
  assert.deepEqual([(await stored(one))[0].title, (await stored(two))[0].title], ['For one', 'For two'])
  await tab.evaluate(({ key }) => Gatherkit('destroy', { key }), one)
  assert.deepEqual(await tab.locator('gatherkit-widget').evaluateAll((hosts) => hosts.map(({ shadowRoot }) => shadowRoot.firstChild.ariaLabel)), ['Two'])
})

test('set changes locale, strings and theme of a running widget', async (t) => {
  const app = await addApp()
  const { relay, pages, visit } = await start(t)
  pages['/'] = document(tag(relay, app))
  const tab = await visit('/')
  const w = widget(tab)
  await w.open()
  await w.close.click()
  await tab.evaluate(() => Gatherkit('set', { locale: 'fr', theme: 'dark', strings: { heading: 'Dites-nous' } }))
  await w.open()
  assert.equal(await w.part('h2').textContent(), 'Dites-nous')
  assert.equal(await w.send.textContent(), 'Envoyer l’idée')
  assert.equal(await w.dialog.evaluate((dialog) => getComputedStyle(dialog).backgroundColor), 'rgb(27, 29, 36)')
})

test('prefilled text never replaces what the user has written', async (t) => {
  const app = await addApp()
  const { relay, pages, idle, visit } = await start(t)
  pages['/'] = document(tag(relay, app))
  const tab = await visit('/')
  const w = widget(tab)
  await tab.evaluate(() => Gatherkit('open', { prefill: { title: 'Proposed', email: 'ada@example.com' } }))
  await soon('the title is filled in', async () => (await w.title.inputValue()) === 'Proposed')
  assert.equal(await w.email.inputValue(), 'ada@example.com')
  await w.title.fill('My own')
  await w.close.click()
  await tab.evaluate(() => Gatherkit('open', { prefill: { title: 'Another' } }))
  await w.dialog.waitFor()
  await idle(tab)
  assert.equal(await w.title.inputValue(), 'My own')
})

test('the module works under the strictest content security policy', async (t) => {
  const app = await addApp()
  const { relay, pages, complaints, visit } = await start(t)
  const policies = `${policy(relay)}; script-src ${relay.url} 'self'`.replace(`script-src ${relay.url};`, '')
  pages['/module.js'] = {
    type: 'text/javascript',
    html: `import Gatherkit, { Gatherkit as same } from '${relay.url}/widget.mjs'
      if (Gatherkit !== same) throw new Error('two of them')
      Gatherkit('boot', { key: '${app.key}', theme: 'dark', identity: { email: 'ada@example.com' } })`,
  }
  pages['/'] = { html: document('<script type="module" src="/module.js"></script>'), headers: { 'Content-Security-Policy': policies } }
  const w = widget(await visit('/'))
  await w.open()
  await w.submit('By module')
  await w.sent.waitFor()
  assert.equal((await stored(app))[0].submitter.email, 'ada@example.com')
  assert.deepEqual(complaints, [])
})

test('without the configuration, the launcher uses that of the last visit', async (t) => {
  const app = await addApp({ widget: { button_text: 'Remembered' } })
  const { relay, pages, visit } = await start(t)
  pages['/'] = document(tag(relay, app))
  const tab = await visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  relay.fault = ({ url }) => (url.startsWith('/widget/config/') ? 503 : undefined)
  await tab.reload()
  await w.launcher.waitFor()
  assert.equal(await w.launcher.textContent(), 'Remembered')
  // If the app was deleted, the launcher disappears.
  const gone = { status: 404, code: 'apps.not_found', message: 'The app was not found.' }
  relay.fault = ({ url }) => (url.startsWith('/widget/config/') ? gone : undefined)
  await tab.reload()
  await soon('the launcher disappears', async () => (await tab.locator('gatherkit-widget').count()) === 0)
  await tab.reload()
  await soon('the error event is sent', async () => (await recorded(tab, 'error')).some(([, { kind }]) => kind === 'refused'))
  assert.equal(await tab.locator('gatherkit-widget').count(), 0)
})

test('an unknown key, and an origin that is not allowed', async (t) => {
  const app = await addApp({ allowed_origins: ['https://elsewhere.example'] })
  const { relay, pages, visit } = await start(t, { quiet: false })
  pages['/unknown'] = document(tag(relay, { key: `gk_${'0'.repeat(38)}` }))
  pages['/foreign'] = document(tag(relay, app))
  for (const [address, code] of [['/unknown', 'apps.not_found'], ['/foreign', 'widget.origin_not_allowed']]) {
    const tab = await visit(address)
    await soon('the error event is sent', async () => (await recorded(tab, 'error')).length > 0)
    assert.deepEqual((await recorded(tab, 'error')).map(([, { kind, code }]) => [kind, code]), [['refused', code]])
    assert.equal(await tab.locator('gatherkit-widget').count(), 0)
  }
})
