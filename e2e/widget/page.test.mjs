// The widget on customers' pages: content security policies, hostile styles, settings, languages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addApp, call, check, document, looks, policy, recorded, soon, start, stored, tag, widget } from './harness.mjs'

const full = { widget: { allow_file_uploads: true }, sharing: 'all' }
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const picture = { name: 'screen.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') }

test('the widget works under the strictest policy and does not change the page', async (t) => {
  const app = await addApp(full)
  const { relay, pages, context, complaints, visit } = await start(t)
  const headers = { 'Content-Security-Policy': policy(relay) }
  pages['/'] = { html: document(tag(relay, app)), headers }
  pages['/without'] = { html: document(''), headers }
  const globals = () => Object.keys(window).sort()
  const before = await (await visit('/without')).evaluate(globals)
  const tab = await visit('/')
  const w = widget(tab)
  await w.open()
  await w.file.setInputFiles([picture])
  await w.submit('Dark mode', 'My eyes hurt at night.')
  await w.sent.waitFor()
  await w.again.click()
  await w.title.fill('dark mode')
  await w.vote.first().click()
  await soon('the vote is counted', async () => (await recorded(tab, 'vote')).length === 1)
  const [request] = await stored(app)
  assert.equal(request.title, 'Dark mode')
  assert.equal(request.votes, 2)
  assert.equal(request.attachments.length, 1)
  const after = await tab.evaluate(globals)
  assert.deepEqual(after.filter((name) => !before.includes(name)), ['Gatherkit'])
  const page = await tab.evaluate(() => ({
    sheets: window.document.styleSheets.length + window.document.adoptedStyleSheets.length,
    frames: window.frames.length, shifts: window.shifts,
  }))
  assert.deepEqual(page, { sheets: 0, frames: 0, shifts: 0 })
  assert.deepEqual(await context.cookies(), [])
  assert.deepEqual(complaints, [])
})

test('styles of the page do not affect the widget', async (t) => {
  const app = await addApp(full)
  const { relay, pages, visit } = await start(t)
  const hostile = `<style>
    @layer page { :not(html, body) { display: none !important; position: static !important; } }
    :not(html, body) { all: unset !important; }
    :not(html, body), ::before, ::after {
      font-size: 40px !important; color: red !important; background: lime !important; transform: rotate(9deg) !important;
      opacity: .3 !important; visibility: hidden !important; float: left !important; direction: rtl !important;
      text-transform: uppercase !important; pointer-events: none !important;
      --accent: red; --slot: 9; --inset: 0; --text: red !important; --ground: red !important;
    }
    html { font-size: 3px } dialog { display: block !important } button { width: 1px !important }
  </style>`
  pages['/plain'] = document(tag(relay, app))
  pages['/hostile'] = document(tag(relay, app), { head: hostile })
  const look = async (address) => {
    const w = widget(await visit(address))
    const seen = {}
    const note = async (name, part) => {
      seen[name] = await part.boundingBox()
      seen[`${name} style`] = await part.evaluate((element) => {
        const names = ['color', 'backgroundColor', 'fontSize', 'opacity', 'visibility', 'textTransform', 'direction', 'pointerEvents']
        return Object.fromEntries(names.map((name) => [name, getComputedStyle(element)[name]]))
      })
    }
    await note('launcher', w.launcher)
    await w.open()
    await w.file.waitFor({ state: 'attached' }) // it appears last
    for (const name of ['dialog', 'title', 'send']) await note(name, w[name])
    return seen
  }
  assert.deepEqual(await look('/hostile'), await look('/plain'))
})

for (const position of ['bottom-right', 'bottom-left', 'top-right', 'top-left']) {
  test(`the launcher and the panel are at the ${position}`, async (t) => {
    const app = await addApp({ widget: { position, button_text: 'Ideas?', primary_color: '#FFCC00' } })
    const { relay, pages, visit } = await start(t)
    pages['/'] = document(tag(relay, app))
    const w = widget(await visit('/'))
    const at = async (part) => {
      const { x, y, width, height } = await part.boundingBox()
      return `${y < 760 - y - height ? 'top' : 'bottom'}-${x < 1000 - x - width ? 'left' : 'right'}`
    }
    assert.equal(await w.launcher.textContent(), 'Ideas?')
    assert.equal(await at(w.launcher), position)
    const colors = await w.launcher.evaluate((button) => [getComputedStyle(button).backgroundColor, getComputedStyle(button).color])
    assert.deepEqual(colors, ['rgb(255, 204, 0)', 'rgb(0, 0, 0)'])
    await w.open()
    assert.equal(await at(w.dialog), position)
  })
}

test('the widget follows the settings', async (t) => {
  const { relay, pages, visit } = await start(t)
  const plain = await addApp({ widget: { show_email_field: false } })
  const strict = await addApp({ widget: { require_email: true }, sharing: 'all' })
  pages['/plain'] = document(tag(relay, plain))
  pages['/strict'] = document(tag(relay, strict))

  let w = widget(await visit('/plain'))
  await w.open()
  await w.submit('An idea')
  await w.sent.waitFor()
  assert.equal(await w.part('#email').count(), 0)
  assert.equal(relay.count('widget-similar-requests'), 0)
  assert.equal(relay.count('widget-create-upload'), 0)

  w = widget(await visit('/strict'))
  await w.open()
  assert.equal(await w.file.count(), 0)
  await w.submit('Another idea')
  await w.part('#email-problem').waitFor()
  assert.equal(await w.email.getAttribute('aria-invalid'), 'true')
  assert.ok(await w.email.evaluate((field) => field.matches(':focus')))
  await w.email.fill('ada')
  await w.send.click()
  assert.match(await w.part('#email-problem').textContent(), /ada@example\.com/)
  await w.email.fill('ada@example.org')
  await w.send.click()
  await w.sent.waitFor()
  assert.equal((await stored(strict))[0].submitter.email, 'ada@example.org')
})

test('the widget can be used with the keyboard only', async (t) => {
  const app = await addApp()
  const { relay, pages, visit } = await start(t)
  pages['/'] = document(`${tag(relay, app)}<script>
    addEventListener('keydown', (event) => (window.pressed = (window.pressed ?? '') + event.key))
    document.addEventListener('keyup', () => window.released = true)
  </script>`)
  const tab = await visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  const { keyboard } = tab
  const focused = () => tab.evaluate(() => {
    const { activeElement } = window.document
    const inner = activeElement?.shadowRoot?.activeElement
    return inner?.className || inner?.id || activeElement?.localName
  })
  await keyboard.press('Tab')
  assert.match(await focused(), /launcher/)
  await keyboard.press('Enter')
  await w.dialog.waitFor()
  await soon('the title has the focus', async () => (await focused()) === 'title')
  // The page receives keys until the second script has loaded.
  const pressed = () => tab.evaluate(() => window.pressed)
  await soon('the panel keeps its keys from the page', async () => {
    const before = await pressed()
    await keyboard.press('Shift')
    return (await pressed()) === before
  })
  const before = await pressed()
  await keyboard.type('Keys')
  assert.equal(await pressed(), before, 'the page receives the keys typed in the widget')
  const seen = new Set()
  for (let i = 0; i < 12; i++) {
    await keyboard.press('Tab')
    seen.add(await focused())
  }
  assert.ok(!seen.has('a') && ![...seen].some((name) => /launcher/.test(name)), [...seen].join())
  assert.ok(seen.has('description') && seen.has('email') && seen.has('primary') && seen.has('icon'), [...seen].join())
  assert.equal(await w.part('[name=website]').evaluate((field) => field.matches(':focus')), false)
  await keyboard.press('Escape')
  await w.dialog.waitFor({ state: 'hidden' })
  assert.match(await focused(), /launcher/)
  await keyboard.press('Enter')
  await w.dialog.waitFor()
  await keyboard.press('End')
  await keyboard.type(' only')
  await keyboard.press('Enter')
  await w.sent.waitFor()
  assert.equal(await w.part('[role=status]').textContent(), "We'll read it. Follow it under “Your ideas”.")
  assert.deepEqual((await stored(app)).map(({ title }) => title), ['Keys only'])
})

for (const [name, attributes, css, scheme, dark] of [
  ['auto, light', '', '', 'light', false],
  ['auto, light page on a dark system', '', '', 'dark', false],
  ['auto, dark page', '', ':root { color-scheme: dark }', 'light', true],
  ['auto, light page', '', ':root { color-scheme: light }', 'dark', false],
  ['auto, page with both', '', ':root { color-scheme: light dark }', 'dark', true],
  ['auto, page with only dark', '', ':root { color-scheme: only dark }', 'light', true],
  ['auto, dark meta', '', '</style><meta name="color-scheme" content="dark"><style>', 'light', true],
  ['auto, light meta', '', '</style><meta name="color-scheme" content="light"><style>', 'dark', false],
  ['light on a dark page', 'data-theme="light"', ':root { color-scheme: dark }', 'dark', false],
  ['light', 'data-theme="light"', '', 'dark', false],
  ['dark', 'data-theme="dark"', '', 'light', true],
]) {
  test(`theme: ${name}`, async (t) => {
    const app = await addApp()
    const { relay, pages, visit } = await start(t, { options: { colorScheme: scheme } })
    pages['/'] = document(tag(relay, app, attributes), { head: `<style>${css}</style>` })
    const w = widget(await visit('/'))
    await w.open()
    const background = await w.dialog.evaluate((dialog) => getComputedStyle(dialog).backgroundColor)
    assert.equal(background.match(/\d+/g).slice(0, 3).every((part) => Number(part) < 60), dark, background)
  })
}

test('theme: auto follows a page that changes its scheme', async (t) => {
  const app = await addApp()
  const { relay, pages, visit } = await start(t)
  pages['/'] = document(tag(relay, app), { head: '<style>.night { color-scheme: dark }</style>' })
  const tab = await visit('/')
  const w = widget(tab)
  const background = () => w.dialog.evaluate((dialog) => getComputedStyle(dialog).backgroundColor)
  await w.open()
  assert.equal(await background(), 'rgb(255, 255, 255)')
  await w.close.click()
  await tab.evaluate(() => window.document.documentElement.classList.add('night'))
  await w.open()
  assert.equal(await background(), 'rgb(27, 29, 36)')
})

test('the widget has the language of the page and its text direction', async (t) => {
  const app = await addApp()
  const { relay, pages, visit } = await start(t)
  pages['/de'] = document(tag(relay, app), { lang: 'de-AT' })
  pages['/ar'] = document(tag(relay, app, 'data-locale="ar"'))
  pages['/xx'] = document(tag(relay, app), { lang: 'xx' })
  const expected = [['/de', 'Idee senden', 'ltr'], ['/ar', 'إرسال الفكرة', 'rtl'], ['/xx', 'Send idea', 'ltr']]
  for (const [address, send, direction] of expected) {
    const w = widget(await visit(address))
    await w.open()
    assert.equal(await w.send.textContent(), send)
    assert.equal(await w.dialog.evaluate((dialog) => getComputedStyle(dialog).direction), direction)
  }
})

// In every state, axe finds nothing, and the page does not scroll sideways.
for (const [look, options, attributes] of looks) {
  test(`every state: ${look}`, async (t) => {
    const app = await addApp(full)
    for (const [title, votes] of [['Dark mode for the dashboard', 3], ['A dark theme at night', 1]]) {
      const { request } = await call('requests-create', { app_id: app.id, title, description: '' })
      for (let i = 0; i < votes; i++) await call('votes-add', { request_id: request.id, email: `person${i}@example.com` })
    }
    const { relay, pages, context, visit } = await start(t, { options })
    pages['/'] = document(tag(relay, app, attributes))
    const tab = await visit('/')
    const w = widget(tab)
    const see = (state) => check(tab, `${look}-${state}`)
    await w.launcher.waitFor()
    await see('1-launcher')
    await w.open()
    await w.file.waitFor({ state: 'attached' })
    await see('2-empty')
    await w.title.fill('Dark mode')
    await w.vote.nth(1).waitFor()
    await w.vote.first().click()
    await soon('the vote is counted', async () => (await w.vote.first().getAttribute('aria-pressed')) === 'true')
    await w.description.fill('My eyes hurt at night, and the screen is the brightest thing in the room.')
    await see('3-similar')
    await w.file.setInputFiles([
      picture, { ...picture, name: 'a-rather-long-name-of-a-screenshot-that-somebody-has-made.png' },
      { name: 'page.png', mimeType: 'image/png', buffer: Buffer.from('<html>') },
    ])
    await w.files.nth(1).waitFor()
    await w.email.fill('nobody')
    await w.send.click()
    await see('4-files-and-mistakes')
    await w.email.fill('ada@example.com')
    relay.wait = 1500
    await w.send.click()
    await see('5-sending')
    await w.sent.waitFor()
    relay.wait = 0
    await see('6-sent')
    await w.again.click()
    await context.setOffline(true)
    await w.submit('Offline')
    await w.waiting.waitFor()
    await see('7-offline')
    await context.setOffline(false)
    await w.sent.waitFor()
    await w.again.click()
    relay.fault = ({ operation }) => (operation === 'widget-submit-request' ? 503 : undefined)
    await w.submit('Server')
    await w.waiting.waitFor()
    await see('8-server')
    relay.fault = undefined
    await w.sent.waitFor()
    await w.again.click()
    const refusal = { status: 400, code: 'widget.invalid_title', message: 'title must be about the shop.' }
    relay.fault = ({ operation }) => (operation === 'widget-submit-request' ? refusal : undefined)
    await w.submit('Weather')
    await w.alert.waitFor()
    assert.equal(await w.title.inputValue(), 'Weather')
    await see('9-refused')
  })
}
