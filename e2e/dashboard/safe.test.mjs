// All pages: users' text is never executed, axe finds nothing, and users are not offered actions that
// would be refused.
import assert from 'node:assert/strict'
import http from 'node:http'
import { after, before, test } from 'node:test'
import { inProof, post, resultOf } from '../browser.mjs'
import { line, payloads } from '../payloads.mjs'
import { Caller, logIn, look, openBrowser, service, submit } from './harness.mjs'

const owner = await Caller.logIn()
let app
let requests
let webhook
const receiver = http.createServer((_, response) => response.writeHead(400).end(payloads[0]))
after(() => (receiver.closeAllConnections(), receiver.close()))

before(async () => {
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  app = await owner.addApp(payloads[1], { widget: { button_text: payloads[0].slice(0, 30), allow_file_uploads: true }, sharing: 'all' })
  requests = []
  for (const [n, payload] of payloads.entries()) {
    const file = new Blob(['hello'])
    const filename = `${payload.replaceAll('/', ' ')}.txt`
    const { upload } = await widget('widget-create-upload', { filename, content_type: 'text/plain', size: file.size })
    assert.equal((await fetch(new URL(upload.url, service), { method: upload.method, headers: upload.headers, body: file })).status, 200)
    const sent = await submit(app, {
      title: payload, description: payload + '\n' + payload, email: `p${n}@example.com`, name: payload, external_id: payload,
      attachments: [upload.id],
      metadata: { page_url: payload, locale: payload, user_agent: payload, [payload.slice(0, 40)]: payload },
    })
    const { id } = sent
    requests.push(id)
    const tags = [line(payload).replaceAll(',', '').slice(0, 40)]
    await owner.call('requests-update', { id, tags, status: n % 2 ? 'planned' : 'opened' })
    await owner.call('comments-create', { request_id: id, body: payload, visibility: n % 2 ? 'public' : 'internal' })
    await owner.call('votes-add', { request_id: id, email: `v${n}@example.com`, name: line(payload) })
  }
  await owner.call('requests-merge', { id: requests[0], into_id: requests[1] })
  await owner.call('requests-delete', { id: requests[2] })
  await widget('widget-submit-request', {
    title: payloads[3], description: payloads[3], email: 'bot@example.com', form: { website: payloads[1], seconds: 1 },
  })
  for (const [n, payload] of payloads.entries()) {
    await owner.call('users-invite', { email: `u${n}@example.com`, name: line(payload), role: 'member' })
    await owner.call('tokens-create', { name: line(payload).slice(0, 60), kind: n % 2 ? 'service' : 'personal', scope: 'viewer' })
    const url = `http://127.0.0.1:${receiver.address().port}`
    webhook = (await owner.call('webhooks-create', { name: line(payload).slice(0, 60), url, internal: true })).webhook
  }
  await owner.addUser('viewer', 'Vera')
})

async function widget(operation, params) {
  return resultOf(operation, await post(service, operation, params, { 'X-API-Key': app.api_key }))
}

const sections = ['', ...['widget', 'sharing', 'origins', 'key', 'identity', 'general'].map((name) => '?section=' + name)]
const pages = () => [
  ['inbox', '/'], ['inbox-bin', '/?box=bin'], ['inbox-quarantine', '/?box=quarantine'], ['inbox-empty', '/?q=nothingofthekind'],
  ['request', `/?request=${requests[1]}`], ['request-merged', `/?request=${requests[0]}`],
  ['apps', '/apps'], ...sections.map((section) => ['app' + section.replace('?section=', '-'), `/apps/${app.id}${section}`]),
  ['mentions', '/mentions'], ['insights', '/insights'], ['team', '/team'], ['audit', '/team/audit'], ['tokens', '/team/tokens'],
  ['webhooks', '/team/webhooks'], ['webhook', `/team/webhooks/${webhook.id}`],
  ['account', '/account'],
  ['no-app', '/apps/0193e0a0-0000-7000-8000-000000000000'],
]

async function settled(page, quiet) {
  await page.getByRole('main').getByRole('heading').first().waitFor()
  await quiet(page)
  await page.waitForFunction(() => !document.querySelector('main [role=status][aria-label^=Loading]'))
}

// visit opens a page, which must not execute a payload.
async function visit(page, quiet, name, address) {
  await page.goto(address)
  await settled(page, quiet)
  assert.equal(await page.evaluate(() => window.hit), undefined, name)
  const foreign = await page.evaluate(() => {
    const elements = document.querySelectorAll('main iframe, main img, main script, main style, main [onload], main [onerror], ' +
      'main [onfocus], a[href^="javascript:" i], a[href^="data:" i]')
    return [...elements].filter((element) => !element.matches('iframe[src*="preview"]')).map((element) => element.outerHTML)
  })
  assert.deepEqual(foreign, [], name)
}

test('payloads in requests are shown as text and not executed', async (t) => {
  const { context, complaints, quiet } = await openBrowser(t)
  const page = await logIn(context)
  page.on('dialog', (dialog) => complaints.push(`a dialog says ${dialog.message()}`))
  for (const [n, id] of requests.entries()) await visit(page, quiet, `request ${n}`, `/?request=${id}`)
  await page.goto(`/?request=${requests[4]}`)
  const panel = page.getByRole('complementary', { name: 'Request details' })
  for (const part of ['heading', 'link']) await panel.getByRole(part).first().waitFor()
  assert.ok((await panel.innerText()).split(payloads[4]).length > 4, 'the payload is not shown')
  assert.deepEqual(complaints, [])
})

for (const [width, height] of [[1280, 800], [320, 640]]) {
  test(`no page executes payloads, and axe finds nothing at ${width} pixels`, width === 320 ? {} : inProof, async (t) => {
    const { context, complaints, quiet } = await openBrowser(t, { viewport: { width, height } })
    const page = await logIn(context)
    page.on('dialog', (dialog) => complaints.push(`a dialog says ${dialog.message()}`))
    for (const [name, address] of pages()) {
      await visit(page, quiet, name, address)
      await look(page, `${name}-${width}`)
    }
    assert.deepEqual(complaints, [])
  })
}

test('a viewer is not offered actions that would be refused', inProof, async (t) => {
  const { context, quiet } = await openBrowser(t)
  const page = await logIn(context, '/', 'vera@example.com')
  const refused = []
  let pressed = ''
  context.on('response', (response) => response.status() === 403 && refused.push(`${pressed}: ${response.url()}`))
  for (const [name, address] of pages()) {
    await page.goto(address)
    await settled(page, quiet)
    const buttons = page.locator('main button:visible').and(page.locator(':not(aside[aria-label=Filters] *)'))
    const labels = await buttons.evaluateAll((all) => all.map((button) => button.getAttribute('aria-label') ?? button.innerText))
    for (const [n, label] of labels.entries()) {
      pressed = `${name}, ${label}`
      if (/Log out/.test(label) || labels.indexOf(label) < n) continue
      await page.goto(address)
      await settled(page, quiet)
      if (await buttons.nth(n).isDisabled()) continue
      await buttons.nth(n).click()
      await quiet(page)
    }
  }
  await page.goto(`/?request=${requests[1]}`)
  await settled(page, quiet)
  for (const key of ['x', 's', 't', 'a', 'm', 'e', '#', 'c', 'r', 'n', 'u']) {
    pressed = key
    await page.keyboard.press(key)
    assert.equal(await page.getByRole('dialog').count(), 0, key)
  }
  assert.deepEqual(refused, [])
})
