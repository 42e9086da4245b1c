// The widget inside pages of many kinds: what they render, remove, print and trap.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { addApp, call, document, recorded, shop, soon, start, stored, tag, widget } from './harness.mjs'

const modules = createRequire(path.resolve('package.json'))
const { buildSync } = createRequire(path.resolve('../web/widget/package.json'))('esbuild')

// bundle returns the code of one of the pages.
function bundle(name, options) {
  const { outputFiles } = buildSync({
    entryPoints: [`widget/pages/${name}.tsx`], bundle: true, write: false, format: 'esm', jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' }, logLevel: 'error', ...options,
  })
  return outputFiles[0].text
}

const noise = (complaint) => complaint.includes('React DevTools')

// rendered starts a site whose document React renders and hydrates.
async function rendered(t) {
  const app = await addApp({ widget: { button_text: 'Ideas' } })
  const made = await start(t)
  const properties = { url: made.relay.url, appKey: app.key }
  const code = bundle('document', { external: ['react'], format: 'cjs' })
  const module = { exports: {} }
  new Function('module', 'exports', 'require', code)(module, module.exports, modules)
  const { createElement } = modules('react')
  const html = modules('react-dom/server').renderToString(createElement(module.exports.default, properties))
  made.pages['/'] = `<!doctype html>${html}`
  made.pages['/hydrate.js'] = { html: `${bundle('hydrate')}\nwindow.properties = ${JSON.stringify(properties)}`, type: 'text/javascript' }
  return { app, ...made }
}

const count = (tab) => tab.locator('gatherkit-widget').count()

// hydrate hydrates the document, and waits until React has done so.
const hydrate = (tab) => tab.evaluate(async () => {
  window.hydrate()
  const main = window.document.querySelector('main')
  while (!Object.keys(main).some((key) => key.startsWith('__reactFiber'))) await new Promise(requestAnimationFrame)
  await new Promise((resolve) => setTimeout(resolve))
})

for (const order of ['before', 'after']) {
  test(`React hydrates the whole document ${order} the widget has started`, async (t) => {
    const { app, complaints, context, visit, idle } = await rendered(t)
    let release
    if (order === 'before') {
      const held = new Promise((resolve) => (release = resolve))
      await context.route('**/widget.js', (route) => held.then(() => route.continue()))
    }
    const tab = await context.newPage()
    const loaded = visit('/', tab) // after the widget's script
    const w = widget(tab)
    if (order === 'before') {
      await tab.waitForFunction(() => window.hydrate)
      await hydrate(tab)
      release()
      await w.launcher.waitFor()
    } else {
      await w.launcher.waitFor()
      await tab.waitForFunction(() => window.hydrate)
      await hydrate(tab)
    }
    await loaded
    await idle(tab)
    assert.equal(await count(tab), 1)
    await w.open()
    await w.submit('Hydrated')
    await w.sent.waitFor()
    assert.deepEqual((await stored(app)).map(({ title }) => title), ['Hydrated'])
    await tab.reload() // with the settings of the first visit, the widget starts before the page is parsed
    await w.launcher.waitFor()
    await hydrate(tab)
    await idle(tab)
    assert.equal(await count(tab), 1)
    assert.deepEqual(complaints.filter((one) => !noise(one)), [])
  })
}

test('a script in the head opens the panel before there is a body', async (t) => {
  const app = await addApp()
  const { relay, pages, complaints, context, visit } = await start(t)
  pages['/'] = document('', {
    head: `<script>window.Gatherkit = function () { (Gatherkit.q ??= []).push(arguments) }; Gatherkit('open')</script>
      <script src="${relay.url}/widget.js" data-key="${app.key}"></script>`,
  })
  for (let visits = 0; visits < 2; visits++) await widget(await visit('/')).dialog.waitFor()
  assert.equal(context.pages().length, 2)
  assert.deepEqual(complaints, [])
})

test('a widget that the page removes returns once, and not again and again', async (t) => {
  const { visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  await w.open()
  await w.title.fill('Kept')
  await tab.evaluate(() => window.document.querySelector('gatherkit-widget').remove())
  await w.launcher.waitFor()
  assert.equal(await count(tab), 1)
  await w.open()
  assert.equal(await w.title.inputValue(), 'Kept')
  await w.close.click()
  const removals = await tab.evaluate(async () => {
    let removals = 0
    const find = () => window.document.querySelector('gatherkit-widget')
    new MutationObserver(() => {
      if (!find()) return
      removals++
      find().remove()
    }).observe(window.document.documentElement, { childList: true, subtree: true }) // it may return in the body
    find().remove()
    for (let frame = 0; frame < 20; frame++) await new Promise(requestAnimationFrame)
    return removals
  })
  assert.ok(removals <= 1, `it returned ${removals} times`)
  assert.equal(await count(tab), 0)
})

for (const kind of ['native', 'focus-trap', 'radix', 'mui']) {
  test(`the panel works above a modal dialog of the page: ${kind}`, async (t) => {
    const app = await addApp({ sharing: 'all', widget: { allow_file_uploads: true } })
    await call('requests-create', { app_id: app.id, title: 'Dark mode for the dashboard', description: '' })
    const { relay, pages, complaints, visit } = await start(t)
    pages['/modals.js'] = { html: bundle('modals'), type: 'text/javascript' }
    pages[`/${kind}`] = document(`<div id="root"></div><script type="module" src="/modals.js"></script>` +
      tag(relay, app, 'data-trigger=".feedback"'))
    const tab = await visit(`/${kind}`)
    const w = widget(tab)
    await w.launcher.waitFor()
    await tab.getByRole('button', { name: 'Open', exact: true }).click()
    const inside = tab.getByLabel('Inside')
    await inside.fill('Typed before')
    await tab.evaluate(() => {
      window.seen = []
      const names = ['keydown', 'keyup', 'beforeinput', 'input', 'paste', 'pointerdown', 'mousedown', 'touchstart', 'click', 'focusin', 'focusout']
      for (const name of names) window.document.addEventListener(name, (event) => window.seen.push(name), true)
      window.document.addEventListener('keyup', ({ key }) => (window.released = key), true)
    })
    await tab.getByRole('button', { name: 'Tell us', exact: true }).click()
    await w.file.waitFor({ state: 'attached' }) // the second script has loaded
    await tab.evaluate(() => (window.seen = []))
    const focused = () => w.dialog.evaluate((dialog) => dialog.getRootNode().activeElement?.id)
    await soon('the title has the focus', async () => (await focused()) === 'title')
    await tab.keyboard.type('Dark mode')
    await w.vote.first().waitFor()
    await w.vote.first().click()
    await soon('the vote is counted', async () => (await recorded(tab, 'vote')).length === 1)
    await w.title.click()
    while (await focused() !== 'description') await tab.keyboard.press('Tab')
    await tab.keyboard.type('At night')
    await w.email.click()
    await tab.keyboard.type('ada@example.com')
    assert.deepEqual(await tab.evaluate(() => window.seen), [])
    await tab.keyboard.press('Enter')
    await w.sent.waitFor()
    assert.deepEqual((await stored(app)).map(({ title, description }) => [title, description]).at(-1), ['Dark mode', 'At night'])
    await tab.keyboard.press('Escape')
    await w.dialog.waitFor({ state: 'hidden' })
    assert.equal(await tab.evaluate(() => window.released), undefined, 'the page sees the key that has closed the panel')
    await soon('the focus is inside the page\'s dialog', () => tab.evaluate(() => !!window.document.activeElement.closest('[role=dialog], dialog')))
    await inside.click()
    await tab.keyboard.type(' and after')
    assert.equal(await inside.inputValue(), 'Typed before and after')
    await tab.keyboard.press('Escape')
    await inside.waitFor({ state: 'hidden' })
    assert.deepEqual(complaints.filter((one) => !noise(one)), [])
  })
}

test('a page that replaces its document in steps gets no error', async (t) => {
  const { complaints, visit } = await shop(t)
  const tab = await visit('/')
  await widget(tab).launcher.waitFor()
  await tab.evaluate(async () => {
    const { document } = window
    const root = document.documentElement
    root.remove()
    await new Promise(requestAnimationFrame)
    document.append(root.cloneNode())
    await new Promise(requestAnimationFrame)
    document.documentElement.append(document.createElement('body'))
  })
  assert.deepEqual(complaints, [])
})

test('the panel works if the page has hidden everything outside its own dialog', async (t) => {
  const { visit } = await shop(t, { settings: { widget: { allow_file_uploads: true } } })
  const tab = await visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  await w.host.evaluate((host) => {
    host.inert = true
    host.ariaHidden = 'true'
  })
  await tab.evaluate(() => Gatherkit('open'))
  const dialog = tab.getByRole('dialog', { name: 'Share an idea' })
  await dialog.waitFor()
  await w.file.waitFor({ state: 'attached' })
  await dialog.getByLabel('Your idea').click()
  await tab.keyboard.type('Written')
  await dialog.getByRole('button', { name: 'Send idea' }).click()
  await w.sent.waitFor()
})

for (const [name, style] of [['grid', 'display: grid; gap: 40px; place-items: center'], ['flex', 'display: flex; gap: 40px; align-items: end']]) {
  test(`a page whose root is ${name} does not move`, async (t) => {
    const app = await addApp()
    const { relay, pages, visit } = await start(t)
    const head = `<style>html { ${style}; min-height: 100vh } body { ${style}; width: 60% }</style>`
    pages['/with'] = document(tag(relay, app), { head })
    pages['/without'] = document('<script></script>', { head })
    const boxes = (tab) => tab.evaluate(() => [...window.document.querySelectorAll('html, body, main, h1, p')].map((part) => {
      const { x, y, width, height } = part.getBoundingClientRect()
      return [part.localName, x, y, width, height]
    }))
    const tab = await visit('/with')
    await widget(tab).launcher.waitFor()
    const outside = await boxes(tab)
    await tab.evaluate(() => window.document.body.append(window.document.querySelector('gatherkit-widget')))
    const inBody = await boxes(tab)
    const plain = await boxes(await visit('/without'))
    assert.deepEqual([outside, inBody], [plain, plain])
  })
}

test('nothing of the widget is printed', async (t) => {
  const { visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  const shown = () => w.host.evaluate((host) => [...host.shadowRoot.querySelectorAll('*')].filter((part) => part.checkVisibility()).length)
  assert.notEqual(await shown(), 0)
  await w.open()
  await tab.emulateMedia({ media: 'print' })
  assert.equal(await shown(), 0)
  assert.equal(await tab.locator('h1').isVisible(), true)
})

test('a trigger works inside open shadow roots and in menus that stop events', async (t) => {
  const app = await addApp()
  const { relay, pages, visit } = await start(t)
  pages['/'] = document(`<x-menu></x-menu><div id="menu"><a href="/elsewhere" class="feedback"><b>Tell us</b></a></div><script>
    const shadow = document.querySelector('x-menu').attachShadow({ mode: 'open' })
    shadow.append(Object.assign(document.createElement('button'), { className: 'feedback', textContent: 'Inside' }))
    for (const menu of [shadow, document.querySelector('#menu')]) {
      for (const name of ['pointerdown', 'mousedown', 'click']) menu.addEventListener(name, (event) => event.stopPropagation())
    }
    </script>${tag(relay, app, 'data-trigger=".feedback" data-launcher="none"')}`)
  const tab = await visit('/')
  const w = widget(tab)
  await w.host.waitFor({ state: 'attached' })
  for (const name of ['Inside', 'Tell us']) {
    await tab.getByText(name, { exact: true }).click()
    await w.dialog.waitFor()
    await w.close.click()
    await w.dialog.waitFor({ state: 'hidden' })
  }
  assert.equal(new URL(tab.url()).pathname, '/')
})

test('a script that cannot know its key says what to call, and queued calls boot it', async (t) => {
  const app = await addApp()
  const { relay, pages, complaints, visit } = await start(t)
  const hint = "console: Gatherkit: call Gatherkit('boot', { key, base })"
  const src = JSON.stringify(`${relay.url}/widget.js`)
  const boot = `window.Gatherkit ??= function () { (Gatherkit.q ??= []).push(arguments) }
    Gatherkit('boot', ${JSON.stringify({ key: app.key, base: relay.url })})`
  const inline = (run) => `fetch(${src}).then((answer) => answer.text()).then((text) => { ${run} })`
  const kinds = {
    'a tag without a key': `<script src=${src}></script>`,
    'two tags without a key': `<script src=${src}></script><script src=${src}></script>`,
    'an inline script': `<script>${inline("document.head.append(Object.assign(document.createElement('script'), { textContent: text }))")}</script>`,
    'a script from a blob': `<script>${inline(`const src = URL.createObjectURL(new Blob([text]))
      document.head.append(Object.assign(document.createElement('script'), { src }))`)}</script>`,
    'a script without a tag': `<script>${inline('new Function(text)()')}</script>`,
  }
  for (const [name, html] of Object.entries(kinds)) {
    pages['/'] = document(html)
    pages['/boot'] = document(`<script>${boot}</script>${html}`)
    complaints.length = 0
    const tab = await visit('/')
    await soon(name, () => complaints.length > 0)
    await tab.evaluate(([key, base]) => Gatherkit('boot', { key, base }), [app.key, relay.url])
    await widget(tab).launcher.waitFor()
    assert.deepEqual(complaints, [hint], name)
    const booted = await visit('/boot')
    await widget(booted).launcher.waitFor()
    assert.equal(await count(booted), 1, name)
    assert.deepEqual(complaints, [hint], name)
    await tab.close()
    await booted.close()
  }
  const managed = `const tag = Object.assign(document.createElement('script'), { async: true, src: ${src} })
    tag.dataset.key = ${JSON.stringify(app.key)}; document.head.append(tag)`
  for (const [name, html] of Object.entries({
    'a tag manager': `<script>${managed}</script>`, 'two tags': tag(relay, app) + tag(relay, app),
  })) {
    pages['/'] = document(html)
    complaints.length = 0
    const tab = await visit('/')
    await widget(tab).launcher.waitFor()
    assert.equal(await count(tab), 1, name)
    assert.deepEqual(complaints, [], name)
  }
})

for (const [language, title] of [['pt_BR', 'Partilhar uma ideia'], ['zh-Hant-TW', '分享想法'], ['nb', 'Share an idea'], ['iw', 'Share an idea'], [' de.UTF-8', 'Idee teilen']]) {
  test(`a page in the language "${language}" gets the nearest texts`, async (t) => {
    const app = await addApp({ sharing: 'all' })
    const { relay, pages, complaints, visit } = await start(t)
    pages['/'] = document(tag(relay, app), { lang: language })
    const w = widget(await visit('/'))
    await w.open()
    assert.equal(await w.part('#heading').textContent(), title)
    await w.submit('An idea')
    await w.sent.waitFor()
    assert.equal((await stored(app))[0].metadata.locale, language)
    assert.deepEqual(complaints, [])
  })
}

test('a text that is too long is kept, and the message counts characters as the service does', async (t) => {
  const { app, relay, complaints, visit } = await shop(t)
  const w = widget(await visit('/'))
  await w.open()
  const problem = (name) => w.part(`#${name}-problem`).textContent()
  await w.title.fill(` ${'👍🏽'.repeat(102)} `)
  assert.equal(await problem('title'), 'Too long. Characters to remove: 4')
  await w.description.fill('é'.repeat(11_234))
  assert.equal(await problem('description'), 'Too long. Characters to remove: 1,234')
  await w.send.click()
  assert.deepEqual([await w.title.getAttribute('aria-invalid'), await w.description.getAttribute('aria-invalid')], ['true', 'true'])
  assert.ok(await w.title.evaluate((field) => field.getRootNode().activeElement === field))
  assert.equal(relay.count('widget-submit-request'), 0)
  assert.equal((await w.description.inputValue()).length, 11_234)
  await w.title.fill('👍🏽'.repeat(100))
  await w.description.fill('é'.repeat(10_000))
  assert.equal(await problem('title') + await problem('description'), '')
  await w.send.click()
  await w.sent.waitFor()
  const [{ title, description }] = await stored(app)
  assert.deepEqual([title, description.length], ['👍🏽'.repeat(100), 10_000])
  assert.deepEqual(complaints, [])
})
