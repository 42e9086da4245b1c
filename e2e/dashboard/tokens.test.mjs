// Tokens for programs: one's own on the account page, and those of the team for admins.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { inProof } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, until } from './harness.mjs'

const owner = await Caller.logIn()
let app, request
before(async () => {
  app = await owner.addApp('Shop')
  request = (await owner.call('requests-create', { app_id: app.id, title: 'Dark mode' })).request
  await owner.addUser('member', 'Mira')
  await owner.addUser('viewer', 'Vera')
  await owner.addUser('admin', 'Alan')
})

async function open(t, address, as, options = {}) {
  const { context, complaints, quiet } = await openBrowser(t, options)
  t.after(() => assert.deepEqual(complaints, []))
  return { context, quiet, page: await logIn(context, address, as) }
}

// refuse answers the next call of an operation with an error.
const refuse = (context, operation, status, code, message) =>
  context.route(`**/api/${operation}`, (route) => route.fulfill({ status, json: { ok: false, error: { code, message } } }), { times: 1 })

const section = (page, name) => page.getByRole('region', { name, exact: true })
const rowOf = (part, name) => part.getByRole('listitem').filter({ has: part.page().getByText(name, { exact: true }) })
const focused = (locator) => until(() => locator.evaluate((element) => element === document.activeElement))
const create = (page) => page.getByRole('button', { name: 'Create token' })

// make fills in the dialog, and returns the secret that it shows.
async function make(page, name) {
  await page.getByRole('dialog').getByLabel('Name').fill(name)
  await create(page).click()
  return page.getByRole('region', { name: 'token', exact: true }).innerText()
}

test('a token is created, copied, used and revoked with the keyboard', async (t) => {
  const { context, page } = await open(t, '/account', 'mira@example.com')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const tokens = section(page, 'Tokens')
  await tokens.getByText('Your tokens act for you').waitFor()
  const opener = tokens.getByRole('button', { name: 'New token' })
  await opener.focus()
  await look(page, 'tokens-none')
  await page.keyboard.press('Enter')
  const form = page.getByRole('dialog', { name: 'New token' })
  await focused(form.getByLabel('Name'))
  const scopes = await form.getByRole('radiogroup', { name: 'Access' }).getByRole('radio').count()
  assert.equal(scopes, 2, 'a member can choose the rights of an admin')
  assert.ok(await form.getByRole('radio', { name: '90 days' }).isChecked())
  await look(page, 'tokens-new')
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await focused(opener)

  await page.keyboard.press('Enter')
  await focused(form.getByLabel('Name'))
  await page.keyboard.type('Weekly report')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown') // View and edit
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: 'Shop' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('option').first().waitFor({ state: 'detached' })
  await focused(form.getByRole('button', { name: /App$/ }))
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowLeft') // 30 days
  await page.keyboard.press('Enter')

  const shown = page.getByRole('alertdialog', { name: 'Token created' })
  await focused(shown.getByText('Copy it now. Gatherkit does not show it again.'))
  await look(page, 'tokens-secret')
  await page.mouse.click(5, 5)
  await page.keyboard.press('Escape')
  const secret = await shown.getByRole('region', { name: 'token', exact: true }).innerText()
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await shown.getByRole('button', { name: 'Copy token' }).press('Enter')
  await until(async () => (await copied()) === secret)
  await shown.getByRole('button', { name: 'Copy example' }).press('Enter')
  await until(async () => (await copied()).startsWith('curl '))
  const [, url, ...headers] = /^curl (\S+) -H '(.+): (.+)' -H '(.+): (.+)' -d '{}'$/.exec(await copied())
  const answer = await fetch(url, { method: 'POST', headers: [headers.slice(0, 2), headers.slice(2)], body: '{}' })
  assert.equal((await answer.json()).result.requests[0].title, 'Dark mode')
  await shown.getByRole('button', { name: 'Done' }).press('Enter')
  await shown.waitFor({ state: 'detached' })
  await focused(opener)
  assert.equal((await page.content()).includes(secret), false)

  await page.reload()
  const row = rowOf(tokens, 'Weekly report')
  for (const text of ['View and edit', 'Shop', 'Expires in 30 days', 'Used today']) await row.getByText(text, { exact: true }).waitFor()
  await look(page, 'tokens-own')
  const program = Caller.withToken(secret)
  await program.call('requests-update', { id: request.id, tags: ['report'] })

  const revoke = tokens.getByRole('button', { name: 'Revoke Weekly report' })
  await revoke.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Revoke “Weekly report”?' })
  await focused(dialog.getByRole('button', { name: 'Cancel' }))
  await look(page, 'tokens-revoke')
  await page.keyboard.press('Enter')
  await focused(revoke)
  await program.call('requests-list')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Revoke' }).press('Enter')
  await page.getByText('“Weekly report” revoked.').waitFor()
  await row.waitFor({ state: 'detached' })
  await focused(page.getByRole('heading', { name: 'Tokens' }))
  await assert.rejects(program.call('requests-list'), /auth.invalid_token/)
})

test('a viewer has tokens that only view, and does not see those of others', inProof, async (t) => {
  const { page } = await open(t, '/account', 'vera@example.com')
  await section(page, 'Tokens').getByRole('button', { name: 'New token' }).click()
  const form = page.getByRole('dialog', { name: 'New token' })
  assert.equal(await form.getByRole('radiogroup', { name: 'Access' }).getByRole('radio').count(), 1)
  const program = Caller.withToken(await make(page, 'Wall display'))
  await page.getByRole('button', { name: 'Done' }).click()
  await rowOf(section(page, 'Tokens'), 'Wall display').getByText('Never used').waitFor()
  await program.call('requests-list')
  await assert.rejects(program.call('requests-update', { id: request.id, status: 'planned' }), /auth.forbidden/)
  await page.goto('/team')
  await page.getByRole('list', { name: 'Team' }).waitFor()
  assert.equal(await page.getByRole('main').getByRole('link').count(), 0)
  await page.goto('/team/tokens')
  await page.getByRole('heading', { name: 'Admins only' }).waitFor()
  await look(page, 'tokens-viewer')
})

test('an admin creates service tokens and revokes any; history, comments and audit name them', async (t) => {
  const miras = await (await Caller.logIn('mira@example.com')).call('tokens-create', { name: 'Notes', scope: 'member' })
  const { page } = await open(t, '/team', 'alan@example.com')
  await page.getByRole('link', { name: 'Tokens' }).click()
  const services = section(page, 'Service tokens')
  await services.getByText('keeps working when people leave').waitFor()
  await services.getByRole('button', { name: 'New service token' }).click()
  assert.equal(await page.getByRole('radiogroup', { name: 'Access' }).getByRole('radio').count(), 3)
  await page.getByRole('dialog').getByText('Can also edit, merge and comment').click()
  const desk = Caller.withToken(await make(page, 'Support desk'))
  await page.getByRole('button', { name: 'Done' }).click()
  const row = rowOf(services, 'Support desk')
  for (const text of ['View and edit', 'All apps', 'Expires in 90 days', 'Never used']) await row.getByText(text, { exact: true }).waitFor()
  const others = section(page, 'Personal tokens of others')
  await rowOf(others, 'Notes').getByText('Mira', { exact: true }).waitFor()
  await look(page, 'tokens-team')

  await desk.call('requests-update', { id: request.id, status: 'planned' })
  await desk.call('comments-create', { request_id: request.id, body: 'From the desk.' })
  await Caller.withToken(miras.secret).call('requests-update', { id: request.id, status: 'declined' })
  await page.goto(`/?box=live&request=${request.id}`)
  const details = page.getByRole('complementary', { name: 'Request details' })
  await details.getByText('The token "Support desk" changed the status from Open to Planned.').waitFor()
  await details.getByText('The token "Notes" of Mira changed the status from Planned to Declined.').waitFor()
  const comment = details.locator('.comment').filter({ hasText: 'From the desk.' })
  assert.equal(await comment.locator('.comment-author').innerText(), 'Support desk')
  await page.goto('/team/audit?about=requests')
  const lines = page.getByRole('list', { name: 'Audit log' }).getByRole('listitem')
  const line = lines.filter({ hasText: 'The token "Notes" of Mira changed the status' })
  await line.waitFor()
  assert.equal(await line.locator('.avatar svg').count(), 1, 'a program looks like a person')
  await look(page, 'audit-tokens')

  await page.goto('/team/tokens')
  for (const [part, name] of [[others, 'Notes'], [services, 'Support desk']]) {
    await part.getByRole('button', { name: `Revoke ${name}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText(`“${name}” revoked.`).waitFor()
    await rowOf(part, name).waitFor({ state: 'detached' })
  }
  for (const program of [desk, Caller.withToken(miras.secret)]) await assert.rejects(program.call('requests-list'), /auth.invalid_token/)
  await page.goto('/team/audit')
  await lines.filter({ hasText: 'Alan revoked the token "Notes" of Mira.' }).waitFor()
})

test('if the list cannot be read, the page says so and tries again', inProof, async (t) => {
  const { context, page } = await open(t, '/team')
  await refuse(context, 'tokens-list', 500, 'api.internal', 'The service has failed.')
  await page.goto('/team/tokens')
  await page.getByText('The service has failed.').waitFor()
  await look(page, 'tokens-failed')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('The service has failed.').waitFor({ state: 'detached' })
  await section(page, 'Service tokens').waitFor()
})

test('a refused token keeps the input, and its dialog says why', async (t) => {
  const gone = await owner.addApp('Gone')
  await owner.call('tokens-create', { name: 'Old import', scope: 'member', app_id: gone.id })
  const { context, page } = await open(t, '/account')
  await section(page, 'Tokens').getByRole('button', { name: 'New token' }).click()
  const dialog = page.getByRole('dialog', { name: 'New token' })
  await create(page).click()
  await dialog.getByText('This field is required.').waitFor()
  await focused(dialog.getByLabel('Name'))
  await dialog.getByLabel('Name').fill('x'.repeat(61))
  await create(page).click()
  await dialog.getByText('Name must be text of 1 to 60 characters.').waitFor()
  await look(page, 'tokens-name')
  await dialog.getByLabel('Name').fill('Import')
  const expiry = 'expires_at must be in the future, and at most a year from now.'
  await refuse(context, 'tokens-create', 400, 'tokens.invalid_expires_at', expiry)
  await create(page).click()
  await dialog.getByRole('radiogroup', { name: 'Expires after' }).getByText('This must be in the future').waitFor()
  await look(page, 'tokens-expiry')
  await refuse(context, 'tokens-create', 409, 'tokens.too_many', 'There can be at most 50 service tokens.')
  await create(page).click()
  await dialog.getByText('There can be at most 50 service tokens.').waitFor()
  await look(page, 'tokens-too-many')

  await dialog.getByRole('button', { name: /App$/ }).click()
  await page.getByRole('option', { name: 'Gone' }).click()
  await owner.call('apps-delete', { id: gone.id })
  await create(page).click()
  await dialog.getByText(/app was not found/).waitFor()
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'Import')

  // A dialog that closed now would lose the secret.
  let answer
  await context.route('**/api/tokens-create', async (route) => {
    await new Promise((resolve) => { answer = resolve })
    await route.continue()
  })
  await dialog.getByRole('button', { name: /App$/ }).click()
  await page.getByRole('option', { name: 'All apps' }).click()
  await create(page).click()
  await until(() => answer)
  await page.mouse.click(5, 5)
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  answer()
  await page.getByRole('alertdialog', { name: 'Token created' }).waitFor()
  await page.reload()
  await rowOf(section(page, 'Tokens'), 'Import').waitFor()
  assert.equal(await rowOf(section(page, 'Tokens'), 'Old import').count(), 0, 'the token ended with its app')
})

test('a token that is already gone leaves the list; one that stays says why', inProof, async (t) => {
  for (const name of ['First', 'Second']) await owner.call('tokens-create', { name, kind: 'service', scope: 'viewer' })
  const { context, page } = await open(t, '/team/tokens')
  const services = section(page, 'Service tokens')
  await services.getByRole('button', { name: 'Revoke First' }).click()
  const dialog = page.getByRole('dialog')
  await refuse(context, 'tokens-revoke', 503, 'api.unavailable', 'The service is busy.')
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await dialog.getByText('The service is busy.').waitFor()
  await look(page, 'tokens-revoke-failed')
  for (const { id } of (await owner.call('tokens-list')).tokens.filter(({ kind }) => kind === 'service')) {
    await owner.call('tokens-revoke', { id })
  }
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('“First” was already revoked.').waitFor()
  for (const name of ['First', 'Second']) await rowOf(services, name).waitFor({ state: 'detached' })
})

test('many tokens with long names fit on any screen', inProof, async (t) => {
  const mira = await Caller.logIn('mira@example.com')
  const expires_at = new Date(Date.now() + 1500).toISOString()
  for (let n = 10; n < 30; n++) {
    const name = n % 2 ? `${n}: copies the requests of all apps to the data warehouse` : 'W'.repeat(58) + n
    const [caller, kind] = n % 3 ? [owner, 'service'] : [mira, 'personal']
    await caller.call('tokens-create', { name, kind, scope: 'member', ...(n < 13 && { expires_at }) })
  }
  await until(() => Date.now() > Date.parse(expires_at))
  const { page } = await open(t, '/team/tokens')
  for (const width of [1440, 1024, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await page.getByRole('button', { name: /^Revoke W/ }).first().waitFor()
    assert.equal(await page.getByText('Expired', { exact: true }).count(), 3)
    await look(page, `tokens-many-${width}`)
    const cut = await page.getByRole('main').evaluate((main) =>
      [...main.querySelectorAll('li *')].filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1).length)
    assert.equal(cut, 0, `text is cut off at ${width} pixels`)
  }
  await page.getByRole('button', { name: /^Revoke W/ }).first().click()
  await look(page, 'tokens-many-revoke')
})
