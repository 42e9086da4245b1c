// The team: invitations, roles, password recovery, removal, and the audit log.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { inProof } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, password, service } from './harness.mjs'

let ada
before(async () => { ada = await Caller.logIn() })

async function open(t, address = '/team', as = undefined, options = {}) {
  const { context, complaints } = await openBrowser(t, options)
  t.after(() => assert.deepEqual(complaints, []))
  return logIn(context, address, as)
}

const rowOf = (page, name) =>
  page.getByRole('list', { name: 'Team' }).getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) })

// tokenIn returns the token of the link that is shown.
async function tokenIn(page) {
  const link = await page.getByRole('dialog').getByLabel('Link', { exact: true }).inputValue()
  assert.ok(link.startsWith(`${service}/join#`), link)
  return link.split('#')[1]
}

test('a single owner is prompted to invite; the link works once', async (t) => {
  const page = await open(t)
  await page.getByText('You are the only one here.').waitFor()
  await page.getByText(/^E-mail is off\. .* start Gatherkit with --smtp\.$/).waitFor()
  await look(page, 'team-alone')
  assert.equal(await rowOf(page, 'Ada').getByRole('button').count(), 0, 'the last owner can be changed')

  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Grace <b>')
  await dialog.getByLabel('E-mail').fill('ada@example.com')
  await dialog.getByText('Can also manage apps and the team.').click()
  await look(page, 'team-invite')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByText('This account already has a user with this e-mail.').waitFor()
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'Grace <b>')
  await dialog.getByLabel('E-mail').fill('grace@example.com')
  await page.keyboard.press('Enter')
  await dialog.getByText(/Give this link to Grace <b> yourself/).waitFor()
  await look(page, 'team-link')
  const token = await tokenIn(page)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await rowOf(page, 'Grace <b>').getByText('Invited').waitFor()

  await new Caller().call('auth-accept-invite', { token, password })
  assert.equal((await (await Caller.logIn('grace@example.com')).call('auth-me')).role, 'admin')
  await assert.rejects(new Caller().call('auth-accept-invite', { token, password }))
  await page.reload()
  await rowOf(page, 'Grace <b>').waitFor()
  assert.equal(await page.getByText('Invited', { exact: true }).count(), 0)
})

test('a role changes at once, and undo restores it', async (t) => {
  const mary = await ada.addUser('member', 'Mary')
  const page = await open(t)
  const roleNow = async () => (await ada.call('users-list')).users.find(({ id }) => id === mary.id).role
  await rowOf(page, 'Mary').getByRole('button', { name: /Role of Mary/ }).click()
  await look(page, 'team-roles')
  await page.getByRole('option', { name: 'Viewer' }).click()
  await page.getByText('Mary is now a viewer.').waitFor()
  assert.equal(await roleNow(), 'viewer')
  const undone = page.waitForResponse('**/api/users-update')
  await page.getByRole('button', { name: 'Undo' }).click()
  await rowOf(page, 'Mary').getByRole('button', { name: 'Member Role of Mary' }).waitFor()
  await undone
  assert.equal(await roleNow(), 'member')

  // If the service refuses the change, the old role is shown again.
  const error = { code: 'users.last_owner', message: 'This is the last owner.' }
  await page.route('**/api/users-update', (route) => route.fulfill({ status: 409, json: { ok: false, error } }))
  await rowOf(page, 'Mary').getByRole('button', { name: /Role of Mary/ }).click()
  await page.getByRole('option', { name: 'Owner' }).click()
  await page.getByText('This is the last owner.').waitFor()
  await rowOf(page, 'Mary').getByRole('button', { name: 'Member Role of Mary' }).waitFor()
})

test('an admin creates a recovery link for a user who forgot the password', async (t) => {
  await ada.addUser('member', 'Linus')
  const page = await open(t, '/team', undefined, { viewport: { width: 320, height: 640 } })
  await rowOf(page, 'Linus').waitFor()
  await look(page, 'team-narrow')
  await page.getByRole('button', { name: 'Actions for Linus' }).click()
  await page.getByRole('menuitem', { name: 'Password reset link' }).click()
  await page.getByRole('heading', { name: 'Password reset for Linus' }).waitFor()
  await look(page, 'team-recovery')
  await new Caller().call('auth-accept-invite', { token: await tokenIn(page), password: 'something quite new' })
  await Caller.logIn('linus@example.com', 'something quite new')
})

test('a removed user is logged out at once, and their requests are unassigned', async (t) => {
  const bob = await ada.addUser('member', 'Bob')
  const app = await ada.addApp('Website')
  const { request } = await ada.call('requests-create', { app_id: app.id, title: 'Dark mode', assignee_id: bob.id })
  const asBob = await Caller.logIn('bob@example.com')
  const page = await open(t)
  await page.getByRole('button', { name: 'Actions for Bob' }).click()
  await page.getByRole('menuitem', { name: 'Remove…' }).click()
  await look(page, 'team-remove')
  await page.keyboard.press('Escape')
  await asBob.call('auth-me')
  await page.getByRole('button', { name: 'Actions for Bob' }).click()
  await page.getByRole('menuitem', { name: 'Remove…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Bob removed from the team.').waitFor()
  await rowOf(page, 'Bob').waitFor({ state: 'detached' })
  await assert.rejects(asBob.call('auth-me'))
  assert.equal((await ada.call('requests-get', { id: request.id })).request.assignee_id, null)
})

test('users are not offered actions that would be refused', inProof, async (t) => {
  await ada.addUser('viewer', 'Vera')
  await ada.addUser('admin', 'Alan')
  const vera = await open(t, '/team', 'vera@example.com')
  await rowOf(vera, 'Vera').getByText('You', { exact: true }).waitFor()
  assert.equal(await vera.getByRole('main').getByRole('button').count(), 0)
  assert.equal(await vera.getByRole('main').getByRole('link').count(), 0)
  await look(vera, 'team-viewer')
  await vera.goto('/team/audit')
  await vera.getByRole('heading', { name: 'Admins only' }).waitFor()
  await look(vera, 'audit-viewer')

  const alan = await open(t, '/team', 'alan@example.com')
  await rowOf(alan, 'Vera').getByRole('button', { name: /Role of Vera/ }).click()
  const roles = await alan.getByRole('option').evaluateAll((all) => all.map((option) => option.innerText.split('\n')[0]))
  assert.deepEqual(roles, ['Viewer', 'Member', 'Admin'])
  await alan.keyboard.press('Escape')
  for (const name of ['Ada', 'Alan']) assert.equal(await rowOf(alan, name).getByRole('button').count(), 0, name)
})

test('the audit log shows all events in pages', inProof, async (t) => {
  const { app } = await ada.call('apps-create', { name: 'Many' })
  for (let i = 0; i < 55; i++) await ada.call('apps-update', { id: app.id, name: `Many ${i}` })
  const page = await open(t, '/team')
  await page.getByRole('link', { name: 'Audit log' }).click()
  const lines = page.getByRole('list', { name: 'Audit log' }).getByRole('listitem')
  await lines.first().waitFor()
  assert.match(await lines.first().innerText(), /Ada[^]*Many 54/)
  assert.equal(await lines.count(), 50)
  await look(page, 'audit')
  const { total_count: total } = await ada.call('audit-list')
  while (await page.getByRole('button', { name: 'Show more' }).isVisible()) {
    const before = await lines.count()
    await page.getByRole('button', { name: 'Show more' }).click()
    await lines.nth(before).waitFor()
  }
  assert.equal(await lines.count(), total)
  const all = (await lines.allInnerTexts()).join('\n')
  for (const name of ['Grace <b>', 'Mary', 'Linus', 'Bob']) assert.ok(all.includes(name), name)
  await page.setViewportSize({ width: 320, height: 640 })
  await look(page, 'audit-narrow')
})

test('the audit log says who changed which request, and opens it', async (t) => {
  const app = await ada.addApp('Shop')
  const add = async (title) => (await ada.call('requests-create', { app_id: app.id, title })).request
  const [dark, bin, spare] = [await add('Dark mode'), await add('Gone <i>soon</i>'), await add('Dark theme')]
  await ada.addUser('member', 'Mira')
  const mira = await Caller.logIn('mira@example.com')
  await mira.call('requests-update', { id: dark.id, status: 'planned' })
  await mira.call('requests-bulk-update', { ids: [dark.id, spare.id], set: { add_tags: ['ui'] } })
  await mira.call('requests-merge', { id: spare.id, into_id: dark.id })
  await mira.call('requests-delete', { id: bin.id })

  const page = await open(t, '/team/audit')
  await page.getByRole('link', { name: 'Requests', exact: true }).click()
  const lines = page.getByRole('list', { name: 'Audit log' }).getByRole('listitem')
  await lines.filter({ hasText: 'Mira moved the request to the bin.' }).waitFor()
  assert.equal(page.url(), `${service}/team/audit?about=requests`)
  assert.match(await lines.first().innerText(), /Gone <i>soon<\/i>\s+Mira moved the request to the bin/)
  const all = (await lines.allInnerTexts()).join('\n')
  for (const text of ['changed the status from Open to Planned', 'added the tag "ui"', 'merged this request into another one']) {
    assert.ok(all.includes(`Mira ${text}`), `${text} is not in ${all}`)
  }
  assert.equal(all.includes('created the app'), false)
  await look(page, 'audit-requests')
  await page.setViewportSize({ width: 320, height: 640 })
  await look(page, 'audit-requests-narrow')
  await page.setViewportSize({ width: 1280, height: 800 })

  const details = page.getByRole('complementary', { name: 'Request details' })
  for (const title of ['Gone <i>soon</i>', 'Dark mode', 'Dark theme']) { // in the bin, open, and merged
    await page.goto('/team/audit?about=requests')
    await lines.getByRole('link', { name: title, exact: true }).first().click()
    await details.getByRole('heading', { name: title }).waitFor()
  }
  await page.goto('/team/audit')
  await lines.filter({ hasText: 'created the app "Shop"' }).waitFor()
})
