// Mail: whether it works, digests, and links that are sent by e-mail. The service of these tests has no mail
// server, so routes answer what depends on one.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { inProof } from '../browser.mjs'
import { Caller, logIn, look, openBrowser } from './harness.mjs'

const owner = await Caller.logIn()
before(async () => {
  await owner.addUser('member', 'Mira')
  await owner.addUser('admin', 'Alan')
})

// open logs in to a service that sends mail. answers are by operation.
async function open(t, address, as, answers = {}, options = {}) {
  const { context, complaints } = await openBrowser(t, options)
  t.after(() => assert.deepEqual(complaints, []))
  const calls = []
  await context.route('**/api/auth-me', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    if (json.ok) json.result.mail = true
    await route.fulfill({ response, json })
  })
  await context.route(/\/api\/(mail-status|digest-get|digest-set|users-invite|users-recover)$/, (route) => {
    const operation = route.request().url().split('/').at(-1)
    const params = route.request().postDataJSON()
    calls.push({ operation, params })
    const answer = answers[operation]
    if (!answer) return operation === 'mail-status' ? route.fulfill({ json: { ok: true, result: works } }) : route.continue()
    const { status = 200, error, result } = answer(params)
    return route.fulfill({ status, json: error ? { ok: false, error } : { ok: true, result } })
  })
  return { page: await logIn(context, address, as), calls }
}

const works = { configured: true, state: 'ok', error: null, since: null, waiting: 0, failing: 0, failures: [] }
const link = (send) => ({ link: 'https://x.example/join#gjt_secret', expires_at: '2031-01-01T00:00:00.000Z', sent: send === true })
const of = (calls, operation) => calls.filter((one) => one.operation === operation).map(({ params }) => params)

test('admins see that mail does not work, and what the server said', async (t) => {
  const refused = { ...works, state: 'refused', error: 'logging in: 535 5.7.8 Authentication failed', since: '2026-01-02T10:42:00.000Z', waiting: 12 }
  const { page } = await open(t, '/team', 'alan@example.com', { 'mail-status': () => ({ result: refused }) })
  await page.getByRole('heading', { name: 'The mail server refuses our mail' }).waitFor()
  await page.getByText(/It began .* ago\. Until it works, 12 mails must wait\./).waitFor()
  await page.getByText('535 5.7.8 Authentication failed').waitFor()
  await page.getByRole('link', { name: /Team.*mail has failed/ }).waitFor()
  await look(page, 'mail-refused')
})

test('admins see which mail has failed, and why', async (t) => {
  const since = '2026-01-02T10:42:00.000Z'
  const failures = [
    { kind: 'update', recipient: 'ada@example.com', attempts: 3, since, retry_at: '2026-01-02T11:12:00.000Z', error: 'giving the recipient: 451 Try later' },
    { kind: 'link', recipient: 'new@example.com', attempts: 12, since, retry_at: null, error: 'giving the recipient: 550 No such user' },
    { kind: 'digest', recipient: null, attempts: 1, since, retry_at: '2026-01-02T11:12:00.000Z', error: 'broken' },
    ...[1, 2, 3].map((n) => ({ kind: 'news', recipient: null, attempts: n, since, retry_at: '2026-01-02T11:12:00.000Z', error: `broken ${n}` })),
  ]
  const { page } = await open(t, '/team', 'alan@example.com', { 'mail-status': () => ({ result: { ...works, failing: 30, failures } }) })
  await page.getByRole('heading', { name: '30 mails could not be sent' }).waitFor()
  await page.getByText(/^Update to ada@example\.com, tried 3 times, next on .*2026/).waitFor()
  await page.getByText('giving the recipient: 451 Try later').waitFor()
  await page.getByText('Link to new@example.com, given up').waitFor()
  await page.getByText('broken 3').waitFor()
  await page.getByRole('link', { name: /Team.*mail has failed/ }).waitFor()
  for (const width of [1440, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await look(page, `mail-failed-${width}`)
  }
})

test('nobody sees anything while mail works, and members do not ask', inProof, async (t) => {
  const { page, calls } = await open(t, '/team', 'alan@example.com')
  await page.getByRole('list', { name: 'Team' }).waitFor()
  await page.waitForFunction(() => performance.getEntriesByName(new URL('api/mail-status', document.baseURI).href).length > 0)
  assert.equal(await page.getByText('mail has failed').count(), 0)
  assert.ok(of(calls, 'mail-status').length > 0)
  const mira = await open(t, '/team', 'mira@example.com', { 'mail-status': () => assert.fail('a member asked') })
  await mira.page.getByRole('list', { name: 'Team' }).waitFor()
  assert.equal(await mira.page.getByText('mail has failed').count(), 0)
  assert.deepEqual(of(mira.calls, 'mail-status'), [])
})

test('a user chooses a digest; a failure says so and keeps the old choice', async (t) => {
  let fails = false
  const { page, calls } = await open(t, '/account', 'mira@example.com', {
    'digest-get': () => ({ result: { every: 'never' } }),
    'digest-set': ({ every }) => fails ? { status: 409, error: { code: 'mail.off', message: 'The service sends no mail.' } } : { result: { every } },
  })
  const digest = page.getByRole('region', { name: 'Digest by e-mail' })
  const choice = (name) => digest.getByRole('radio', { name })
  await choice('Never').waitFor()
  assert.ok(await choice('Never').isChecked())
  await look(page, 'mail-digest')
  await digest.getByText('Every Monday').click()
  await page.getByText(/^Saved\./).waitFor()
  assert.ok(await choice('Every Monday').isChecked())
  assert.deepEqual(of(calls, 'digest-set'), [{ every: 'weekly' }])
  fails = true
  await digest.getByText('Every morning').click()
  await page.getByText('The digest was not changed. The service sends no mail.').waitFor()
  assert.ok(await choice('Every Monday').isChecked())
})

test('an invitation is sent by e-mail unless the admin does not want that', async (t) => {
  let refused = true
  const invited = ({ name, email, role, send }) => refused
    ? { status: 429, error: { code: 'api.rate_limited', message: 'Too many calls; slow down.' } }
    : { result: { user: { id: '0197a2b3-c4d5-7000-8000-000000000001', name, email, role, invited: true }, ...link(send) } }
  const { page, calls } = await open(t, '/team', 'alan@example.com', { 'users-invite': invited })
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Grace')
  await dialog.getByLabel('E-mail').first().fill('grace@example.com')
  const send = dialog.getByRole('switch', { name: 'Also send the link by e-mail' })
  assert.ok(await send.isChecked())
  await look(page, 'mail-invite')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByText('Too many calls; slow down.').waitFor()
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'Grace')
  refused = false
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByText(/Sent to grace@example\.com\. You can also give this link to Grace yourself\./).waitFor()
  await look(page, 'mail-invited')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Invite' }).click()
  await dialog.getByLabel('Name').fill('Eve')
  await dialog.getByLabel('E-mail').first().fill('eve@example.com')
  await dialog.getByText('Also send the link by e-mail').click()
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByText(/^Give this link to Eve yourself\./).waitFor()
  assert.deepEqual(of(calls, 'users-invite').map((one) => one.send), [true, true, false])
})

test('a recovery link is sent by e-mail from the menu', async (t) => {
  const { page, calls } = await open(t, '/team', 'alan@example.com', { 'users-recover': ({ send }) => ({ result: link(send) }) })
  for (const [item, said] of [['Password reset link', /^Give this link to Mira/], ['E-mail a password reset link', /^Sent to mira@example\.com\./]]) {
    await page.getByRole('button', { name: 'Actions for Mira' }).click()
    await page.getByRole('menuitem', { name: item, exact: true }).click()
    await page.getByRole('dialog').getByText(said).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  assert.deepEqual(of(calls, 'users-recover').map((one) => one.send), [false, true])
})
