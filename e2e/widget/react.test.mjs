// The React package, with the page in the folder react.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { addApp, document, identityToken, soon, start, stored, widget } from './harness.mjs'

const clients = path.resolve('../clients/react')
const { build } = createRequire(path.resolve('../web/widget/package.json'))('esbuild')
const { outputFiles: [{ text }] } = await build({
  entryPoints: ['widget/react/shop.tsx'], bundle: true, write: false, format: 'esm', jsx: 'automatic',
  nodePaths: [path.join(clients, 'node_modules')],
  alias: Object.fromEntries(['react', 'react-dom'].map((name) => [name, path.join(clients, 'node_modules', name)])),
})

// React's own advice about its tools is not a complaint.
const bad = (complaint) => !complaint.includes('React DevTools')

async function open(t) {
  const app = await addApp()
  const made = await start(t)
  made.pages['/shop.js'] = { html: text, type: 'text/javascript' }
  made.pages['/'] = document(`<div id="root"></div><script type="module">
    window.service = ${JSON.stringify({ url: made.relay.url + '/', appKey: app.key })}
    await import('/shop.js')</script>`)
  const tab = await made.visit('/')
  return { app, ...made, tab, w: widget(tab), press: (name) => tab.getByRole('button', { name, exact: true }).click() }
}

// prepared waits until the form has the title that the page has prepared.
const prepared = (w) => soon('the title is filled in', async () => (await w.title.inputValue()) === 'Prepared')

test('a button of the page opens the panel, and events reach the latest function', async (t) => {
  const { app, tab, w, press, complaints, idle } = await open(t)
  await press('Ideas')
  await w.dialog.waitFor()
  assert.equal(await w.launcher.isVisible(), false)
  assert.equal(await w.send.textContent(), 'Send it')
  await prepared(w)
  await w.send.click()
  await w.sent.waitFor()
  await w.close.click()
  await w.dialog.waitFor({ state: 'hidden' })
  await press('Night')
  await press('Ideas') // at night, the page closes the panel at once
  await soon('the panel was open', () => tab.evaluate(() => window.heard.includes('open dark')))
  await w.dialog.waitFor({ state: 'hidden' })
  await soon('the texts follow', async () => (await w.send.textContent()) === 'Send it by night')
  assert.deepEqual(await tab.evaluate(() => window.heard), ['open light', 'submit Prepared', 'open dark'])
  assert.deepEqual((await stored(app)).map(({ title }) => title), ['Prepared'])
  await idle(tab)
  assert.deepEqual(complaints.filter(bad), [])
})

test('the person follows the login of the page', async (t) => {
  const { app, pages, w, press } = await open(t)
  for (const name of ['ada', 'grace']) pages[`/token/${name}`] = await identityToken(app, { sub: name, email: `${name}@example.org` })
  const submit = async (title) => {
    await press('Ideas')
    await w.dialog.waitFor()
    await prepared(w)
    await w.submit(title)
    await w.sent.waitFor()
    await w.close.click()
    await w.dialog.waitFor({ state: 'hidden' })
  }
  await press('Log in as ada')
  await submit('First')
  await press('Log in as grace')
  await submit('Second')
  await press('Log out')
  await submit('Third')
  const senders = (await stored(app)).map(({ title, submitter }) => [title, submitter.verified, submitter.email])
  assert.deepEqual(senders, [['First', true, 'ada@example.org'], ['Second', true, 'grace@example.org'], ['Third', false, null]])
})

test('the widget disappears with the component', async (t) => {
  const { tab, w, press, complaints, idle } = await open(t)
  await press('Show component')
  await w.launcher.waitFor()
  assert.equal(await tab.locator('gatherkit-widget').count(), 1)
  await press('Show nothing')
  assert.equal(await tab.locator('gatherkit-widget').count(), 0)
  await press('Show hook')
  await press('Show nothing')
  await idle(tab)
  assert.equal(await tab.locator('gatherkit-widget').count(), 0)
  await press('Show component')
  await w.launcher.click()
  await w.dialog.waitFor()
  assert.deepEqual(complaints.filter(bad), [])
})

test('the page works if the widget cannot be loaded', async (t) => {
  const app = await addApp()
  const { pages, visit } = await start(t, { quiet: false })
  pages['/shop.js'] = { html: text, type: 'text/javascript' }
  pages['/'] = document(`<div id="root"></div><script type="module">
    window.service = { url: location.origin + '/blocked', appKey: '${app.key}' }
    await import('/shop.js')</script>`)
  const tab = await visit('/')
  const failed = []
  tab.on('pageerror', (error) => failed.push(error.message))
  await tab.getByRole('button', { name: 'Ideas' }).click()
  await tab.getByRole('button', { name: 'Night' }).click()
  await tab.getByRole('button', { name: 'Show nothing' }).click()
  assert.deepEqual(failed, [])
})
