// Webhooks: created, watched, tested and repaired in the dashboard, with an endpoint on this machine.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import http from 'node:http'
import { before, test } from 'node:test'
import { inProof, some } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, until } from './harness.mjs'

const owner = await Caller.logIn()
let app, request
before(async () => {
  app = await owner.addApp('Shop')
  request = (await owner.call('requests-create', { app_id: app.id, title: 'Dark mode' })).request
  await owner.addUser('member', 'Mira')
})

// openReceiver starts an endpoint. It answers with receiver.status and receiver.answer, and keeps the calls.
async function openReceiver(t) {
  const receiver = { status: 200, answer: '{"thanks":true}', calls: [] }
  const server = http.createServer(async (call, response) => {
    let body = ''
    for await (const piece of call) body += piece
    receiver.calls.push({ headers: call.headers, body, data: JSON.parse(body).data })
    response.writeHead(receiver.status).end(receiver.answer)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => (server.closeAllConnections(), server.close()))
  receiver.url = `http://127.0.0.1:${server.address().port}/hook`
  return receiver
}

// add creates a webhook, which is deleted after the test.
async function add(t, name, url, params = {}) {
  const { webhook } = await owner.call('webhooks-create', { name, url, ...params })
  t.after(() => owner.call('webhooks-delete', { id: webhook.id }).catch(() => undefined))
  return webhook
}

async function open(t, address, options = {}, as) {
  const { context, complaints, quiet } = await openBrowser(t, options)
  t.after(() => assert.deepEqual(complaints, []))
  return { context, quiet, page: await logIn(context, address, as) }
}

let changes = 0
const change = () => owner.call('requests-update', { id: request.id, title: `Dark mode ${++changes}` })
const refuse = (context, operation, status, code, message) =>
  context.route(`**/api/${operation}`, (route) => route.fulfill({ status, json: { ok: false, error: { code, message } } }), { times: 1 })
const button = (at, name) => at.getByRole('button', { name, exact: true })
const rowOf = (page, name) => page.getByRole('list', { name: 'Webhooks' }).getByRole('listitem').filter({ hasText: name })
const section = (page, name) => page.getByRole('region', { name, exact: true })
const focused = (locator) => until(() => locator.evaluate((element) => element === document.activeElement))

test('a webhook is created with the keyboard, tested, and receives a change that its secret has signed', async (t) => {
  const receiver = await openReceiver(t)
  const { context, page } = await open(t, '/team')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
  await look(page, 'webhooks-none')
  const opener = button(page, 'New webhook')
  await opener.press('Enter')
  const form = page.getByRole('dialog', { name: 'New webhook' })
  await form.waitFor()
  await look(page, 'webhooks-new')
  await page.keyboard.press('Escape')
  await focused(opener)
  await page.keyboard.press('Enter')
  await form.getByLabel('Name').fill('Support desk')
  await form.getByLabel('Name').press('Tab')
  await page.keyboard.type(receiver.url)
  await page.keyboard.press('Enter')

  await page.getByRole('heading', { level: 1, name: 'Support desk' }).waitFor()
  await focused(page.getByRole('main'))
  t.after(async () => owner.call('webhooks-delete', { id: page.url().split('/').pop() }))
  await page.getByText('None yet. Send a test, or change a request.').waitFor()
  await look(page, 'webhook-new')
  const tester = button(page, 'Send a test')
  await tester.press('Enter')
  const sent = page.getByRole('dialog', { name: 'Send a test' })
  await sent.getByText(/^Delivered, status 200, \d+ ms$/).waitFor()
  assert.equal(JSON.parse(await sent.getByRole('group', { name: 'Answer' }).innerText()).thanks, true)
  await look(page, 'webhook-tested')
  await focused(button(sent, 'Close').last())
  await page.keyboard.press('Enter')
  await focused(tester)
  const log = page.getByRole('list', { name: 'Attempts' })
  await log.getByText('Test', { exact: true }).waitFor()

  await button(page, 'Show secret').press('Enter')
  const secret = await page.getByRole('region', { name: 'signing secret', exact: true }).innerText()
  await button(page, 'Copy signing secret').press('Enter')
  await until(async () => (await page.evaluate(() => navigator.clipboard.readText())) === secret)
  await change()
  await until(() => receiver.calls.length === 2)
  const { headers, body, data } = receiver.calls[1]
  assert.equal(data.after.title, 'Dark mode 1')
  const sign = (secret) => 'v1,' + createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64')
  assert.equal(headers['webhook-signature'], sign(secret))
  await page.getByText('Up to date').waitFor()
  await page.getByText('Last success just now').waitFor()

  // A new attempt moves no row. The button shows it.
  assert.equal(await log.getByRole('listitem').count(), 1)
  await button(page, 'Show new attempts').press('Enter')
  await log.getByText('request.updated').waitFor()
  await focused(page.getByRole('heading', { name: 'Attempts' }))

  const rotate = button(page, 'Rotate secret…')
  await rotate.press('Enter')
  const asks = page.getByRole('dialog', { name: 'Rotate the secret?' })
  await focused(button(asks, 'Cancel'))
  await look(page, 'webhook-rotate')
  await button(asks, 'Rotate secret').press('Enter')
  await page.getByText(/^The old secret works until /).waitFor()
  await focused(rotate)
  assert.notEqual(await page.getByRole('region', { name: 'signing secret', exact: true }).innerText(), secret)
  await look(page, 'webhook-rotated')
  await change()
  await until(() => receiver.calls.length === 3)
  assert.equal(receiver.calls[2].headers['webhook-signature'].split(' ').length, 2)
  await button(page, 'Hide secret').click()
  assert.equal((await page.content()).includes(secret), false)
})

test('messages for chats have no secret, and a warning about what only the team sees', async (t) => {
  const receiver = await openReceiver(t)
  const { page } = await open(t, '/team/webhooks')
  for (const name of ['Slack', 'Discord', 'Teams']) {
    await page.goto('/team/webhooks')
    await button(page, 'New webhook').click()
    const form = page.getByRole('dialog')
    await form.getByRole('radio', { name: new RegExp('^' + name) }).check({ force: true })
    await form.getByLabel('Name').fill(`#feedback in ${name}`)
    await form.getByRole('textbox', { name: / URL$/ }).fill(receiver.url)
    await form.getByText('Include internal events').click()
    await form.getByText('Everyone in the chat can read them.').waitFor()
    if (name === 'Teams') {
      await form.getByText('Only what I choose').click()
      await form.getByText('A request changes its status').click()
      await form.getByText('A link to an issue is added or removed').click()
      await look(page, 'webhooks-chat')
    }
    await button(form, 'Create webhook').click()
    await page.getByRole('heading', { level: 1, name: `#feedback in ${name}` }).waitFor()
    t.after(() => owner.call('webhooks-delete', { id: page.url().split('/').pop() }).catch(() => undefined))
    assert.equal(await page.getByRole('region', { name: 'Secret' }).count(), 0)
    await button(page, 'Send a test').click()
    await page.getByText('Delivered, status 200').first().waitFor()
    const part = { Slack: 'blocks', Discord: 'embeds', Teams: 'attachments' }[name]
    assert.ok(part in JSON.parse(receiver.calls.at(-1).body), receiver.calls.at(-1).body)
  }
  const { webhooks } = await owner.call('webhooks-list')
  assert.deepEqual(webhooks.at(-1).kinds, ['request.updated:status', 'link.*'])
  for (const { id } of webhooks) await owner.call('webhooks-delete', { id })
})

test('what an endpoint refuses to accept is said in words, and follows when it works again', async (t) => {
  const receiver = await openReceiver(t)
  receiver.status = 500
  receiver.answer = 'out of paper'
  const webhook = await add(t, 'Printer', receiver.url)
  const { page } = await open(t, '/team/webhooks')
  const row = rowOf(page, 'Printer')
  await row.getByText('Up to date').waitFor()
  await change()
  await row.getByText(/^Failing since .*; next attempt in/).waitFor()
  await row.getByText('Last error: The endpoint answered 500 Internal Server Error.').waitFor()
  await row.getByText(/^\d+ behind$/).waitFor()
  await look(page, 'webhooks-failing')

  await page.getByRole('link', { name: 'Printer' }).click()
  const line = page.getByRole('list', { name: 'Attempts' }).getByRole('listitem').last()
  await line.locator('summary').press('Enter')
  await line.getByText(/The other events wait until it works\.$/).waitFor()
  assert.equal(await line.getByRole('group', { name: 'Answer' }).innerText(), 'out of paper')
  const shown = JSON.parse(await line.getByRole('group', { name: 'Sent' }).innerText())
  assert.equal(shown.data.after.title, `Dark mode ${changes}`)
  await look(page, 'webhook-failing')
  await section(page, 'Deliveries').getByText(/; next attempt in \d minutes$/).waitFor() // the second one has failed, too
  receiver.status = 200
  const again = button(line, 'Send again')
  await again.press('Enter')
  const sent = page.getByRole('dialog', { name: `Resend event ${shown.data.number}` })
  await sent.getByText('Delivered, status 200').waitFor()
  await sent.getByText('out of paper').waitFor()
  assert.equal(receiver.calls.at(-1).data.id, shown.data.id)
  await page.keyboard.press('Escape')
  await focused(again)

  await button(page, 'Try now').press('Enter')
  await focused(page.getByRole('heading', { name: 'Deliveries' }))
  await section(page, 'Deliveries').getByText('Up to date').waitFor()
  await button(page, 'Pause').click()
  await page.getByText('Paused', { exact: true }).waitFor()
  await button(page, 'Turn on').click()
  await section(page, 'Deliveries').getByText('Up to date').waitFor()

  receiver.status = 410
  await change()
  await section(page, 'Deliveries').getByText('Disabled: The endpoint answered 410 Gone.').waitFor()
  await page.getByText('“Printer” is disabled. Repair the endpoint').waitFor()
  await look(page, 'webhook-disabled')
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await look(page, 'webhooks-disabled')
  receiver.status = 200
  const before = receiver.calls.length
  await button(page, 'Turn on Printer').press('Enter')
  await focused(page.getByRole('link', { name: 'Printer' }))
  await row.getByText('Up to date').waitFor()
  assert.equal(receiver.calls[before].data.after.title, `Dark mode ${changes}`)
  assert.equal((await owner.call('webhooks-get', { id: webhook.id })).webhook.state, 'on')

  // Refused events are set aside.
  receiver.status = 422
  await change()
  await row.getByText('1 event set aside').waitFor()
})

test('a webhook goes back, is edited and is deleted', async (t) => {
  const receiver = await openReceiver(t)
  const webhook = await add(t, 'Copy', receiver.url)
  await change()
  await change()
  await until(() => receiver.calls.length === 2)
  const { page } = await open(t, `/team/webhooks/${webhook.id}`)
  await section(page, 'Deliveries').getByText(/^Caught up \(\d+ of \d+\)$/).waitFor()
  const opener = button(page, 'Replay from…')
  await opener.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Replay from…' })
  const field = dialog.getByLabel('Replay events after number')
  await focused(field)
  await look(page, 'webhook-rewind')
  await page.keyboard.press('Enter')
  await dialog.getByText('This field is required.').waitFor()
  await field.fill('100000')
  await page.keyboard.press('Enter')
  await dialog.getByText(/^The log of changes ends at \d+, before the position 100000\.$/).waitFor()
  assert.equal(await field.inputValue(), '100000')
  await look(page, 'webhook-rewind-refused')
  const [first, second] = receiver.calls.map(({ data }) => data).sort((a, b) => a.number - b.number)
  await field.fill(String(first.number - 1))
  await page.keyboard.press('Enter')
  await focused(opener)
  await until(() => receiver.calls.length === 4)
  assert.deepEqual(receiver.calls.slice(2).map(({ data }) => data.id).sort(), [first.id, second.id].sort())

  const edit = button(page, 'Edit…')
  await edit.press('Enter')
  const form = page.getByRole('dialog', { name: 'Edit webhook' })
  assert.equal(await form.getByRole('radiogroup', { name: 'Format' }).count(), 0)
  await form.getByText('Only what I choose').click()
  await button(form, 'Save').click()
  await form.getByText('Choose at least one.').waitFor()
  await form.getByText('A vote is added').click()
  await form.getByLabel('Name').fill('Votes')
  await button(form, 'Save').click()
  await focused(edit)
  await page.getByRole('heading', { level: 1, name: 'Votes' }).waitFor()
  await section(page, 'Settings').getByText('A vote is added').waitFor()

  const remove = button(page, 'Delete…')
  await remove.press('Enter')
  const asks = page.getByRole('dialog', { name: 'Delete “Votes”?' })
  await focused(button(asks, 'Cancel'))
  await look(page, 'webhook-delete')
  await page.keyboard.press('Enter')
  await focused(remove)
  await page.keyboard.press('Enter')
  await button(asks, 'Delete').press('Enter')
  await page.getByText('“Votes” deleted.').waitFor()
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
  await focused(page.getByRole('main'))
  await page.goto(`/team/webhooks/${webhook.id}`)
  await page.getByRole('heading', { name: 'Webhook not found' }).waitFor()
  await look(page, 'webhook-not-found')
})

test('refused input is kept, with the reason beside it', inProof, async (t) => {
  const gone = await owner.addApp('Gone')
  const { context, page } = await open(t, '/team/webhooks')
  await button(page, 'New webhook').click()
  const form = page.getByRole('dialog')
  const create = button(form, 'Create webhook')
  await create.click()
  assert.equal(await form.getByText('This field is required.').count(), 2)
  await focused(form.getByLabel('Name'))
  await form.getByLabel('Name').fill('Mail')
  await form.getByRole('textbox', { name: / URL$/ }).fill('mailto:ada@example.com')
  await create.click()
  await form.getByText('The URL must be an address such as https://example.com/webhook.').waitFor()
  await focused(form.getByRole('textbox', { name: / URL$/ }))
  await look(page, 'webhooks-invalid')
  await form.getByRole('textbox', { name: / URL$/ }).fill('https://ada:secret@example.com/')
  await create.click()
  await form.getByText('The URL must not contain a user name or a password.').waitFor()
  await form.getByRole('textbox', { name: / URL$/ }).fill('https://example.com/')
  await form.getByText('Only what I choose').click()
  await create.click()
  await form.getByText('Choose at least one.').waitFor()
  await focused(form.getByRole('checkbox', { name: 'A request is created' }))
  await form.getByText('A request is created').click()
  const kinds = 'kinds must have kinds of events, such as vote.added, request.* or request.updated:status.'
  await refuse(context, 'webhooks-create', 400, 'webhooks.invalid_kinds', kinds)
  await create.click()
  await form.getByText(/must have kinds of events/).waitFor()
  await refuse(context, 'webhooks-create', 409, 'webhooks.too_many', 'An account can have at most 20 webhooks.')
  await create.click()
  await form.getByText('An account can have at most 20 webhooks.').waitFor()
  await look(page, 'webhooks-too-many')
  await form.getByRole('button', { name: /App$/ }).click()
  await page.getByRole('option', { name: 'Gone' }).click()
  await owner.call('apps-delete', { id: gone.id })
  await create.click()
  await form.getByText(/app was not found/).waitFor()
  assert.equal(await form.getByLabel('Name').inputValue(), 'Mail')
  assert.ok(await form.getByRole('checkbox', { name: 'A request is created' }).isChecked())
})

test('members do not see webhooks, and a failed list can be read again', inProof, async (t) => {
  const { page } = await open(t, '/team/webhooks', {}, 'mira@example.com')
  await page.getByRole('heading', { name: 'Admins only' }).waitFor()
  await page.goto('/team/webhooks/0193e0a0-0000-7000-8000-000000000000')
  await page.getByRole('heading', { name: 'Admins only' }).waitFor()
  await page.goto('/team')
  await page.getByRole('list', { name: 'Team' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Webhooks' }).count(), 0)

  const own = await open(t, '/team')
  const error = { code: 'api.internal', message: 'The service has failed.' }
  let asked = 0
  await own.context.route('**/api/webhooks-list', (route) => (asked++, route.fulfill({ status: 500, json: { ok: false, error } })))
  await own.page.getByRole('link', { name: 'Webhooks' }).click()
  await own.page.getByText('The service has failed.').waitFor()
  await look(own.page, 'webhooks-failed')
  const before = asked
  await button(own.page, 'Try again').click()
  await until(() => asked > before)
  await own.context.unrouteAll()
  await own.page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()

  const webhook = await add(t, 'Desk', 'https://example.com/')
  await own.context.route('**/api/webhooks-attempts', (route) => route.fulfill({ status: 500, json: { ok: false, error } }))
  await own.page.goto(`/team/webhooks/${webhook.id}`)
  await section(own.page, 'Attempts').getByText('The service has failed.').waitFor()
  await look(own.page, 'webhook-failed')
  await own.context.unrouteAll()
  await button(own.page, 'Try again').click()
  await own.page.getByText('None yet. Send a test, or change a request.').waitFor()
})

test('a page asks again and again, but not while it is hidden', inProof, async (t) => {
  const { context, complaints, quiet } = await openBrowser(t)
  await context.clock.install()
  const page = await logIn(context, '/team/webhooks')
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
  let asked = 0
  context.on('request', (call) => { asked += call.url().endsWith('/webhooks-list') })
  const pass = async () => {
    for (let n = 0; n < 5; n++) {
      await page.clock.runFor(4_000)
      await quiet(page)
    }
  }
  // The page does not ask while an answer is under way, and the page's clock does not wait for answers.
  while (asked < 5) await pass()
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  })
  await quiet(page)
  const before = asked
  await pass()
  assert.equal(asked, before)
  assert.deepEqual(complaints, [])
})

test('twenty webhooks with long names and a hundred attempts fit on any screen', inProof, async (t) => {
  const receiver = await openReceiver(t)
  const long = 'https://hooks.example.com/services/' + 'T00000000B00000000'.repeat(12)
  for (let n = 0; n < 19; n++) {
    const name = n % 2 ? `${n}: copies the requests of all apps to the data warehouse` : 'W'.repeat(58) + (10 + n)
    const { id } = await add(t, name, long, { format: n % 3 ? 'events' : 'teams', ...(n % 4 && { app_id: app.id }) })
    await owner.call('webhooks-update', { id, state: 'paused' })
  }
  receiver.status = 400
  receiver.answer = 'W'.repeat(3000)
  const full = await add(t, 'M'.repeat(60), receiver.url, { kinds: ['request.*', 'request.updated:status', 'link.*'], internal: true })
  for (let n = 0; n < 100; n++) await change()
  await until(async () => (await owner.call('webhooks-get', { id: full.id })).webhook.health.set_aside === 100)
  const { page, quiet } = await open(t, '/team/webhooks')
  const fits = async (width, name) => {
    await look(page, `${name}-${width}`)
    const cut = await page.getByRole('main').evaluate((main) =>
      [...main.querySelectorAll('li *, dd')].filter((part) => part.clientWidth > 0 && part.scrollWidth > part.clientWidth + 1).length)
    assert.equal(cut, 0, `text is cut off at ${width} pixels`)
  }
  for (const width of [1440, 1024, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto('/team/webhooks')
    await page.getByText('100 events set aside').waitFor()
    await quiet(page)
    await fits(width, 'webhooks-many')
    await button(page, 'New webhook').click()
    await page.getByRole('dialog').getByText('Only what I choose').click()
    await look(page, `webhooks-many-new-${width}`)
    await page.goto(`/team/webhooks/${full.id}`)
    const log = page.getByRole('list', { name: 'Attempts' })
    await log.getByRole('listitem').first().waitFor()
    for (let shown = 20; shown < 100; shown += 20) {
      await button(page, 'Show more').click()
      await until(async () => (await log.getByRole('listitem').count()) > shown)
    }
    await log.locator('summary').first().click()
    await fits(width, 'webhook-many')
  }
})

for (const colorScheme of some(['light', 'dark'], 1)) {
  test(`states and choices show in forced colors, ${colorScheme}`, async (t) => {
    const webhook = await add(t, 'Desk', 'https://example.com/')
    await owner.call('webhooks-update', { id: webhook.id, state: 'paused' })
    const { page } = await open(t, '/team/webhooks', { forcedColors: 'active', colorScheme })
    await rowOf(page, 'Desk').getByText('Paused').waitFor()
    await button(page, 'New webhook').click()
    await page.getByText('Only what I choose').click()
    const box = page.locator('.hook-kinds .check-box').first()
    assert.equal(await box.locator('svg').isVisible(), false)
    await box.click()
    assert.ok(await box.locator('svg').isVisible())
  })
}
