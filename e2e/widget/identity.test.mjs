// Identity tokens: ideas and votes are sent as the verified person, and never as another one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addApp, document, identityToken, recorded, soon, start, stored, tag, widget } from './harness.mjs'

const submission = 'widget-submit-request'

async function shop(t) {
  const app = await addApp()
  const made = await start(t)
  made.pages['/'] = document(tag(made.relay, app))
  return { app, ...made }
}

test('the widget asks for a new token if the identity token has expired', async (t) => {
  const { app, visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  const past = Math.floor(Date.now() / 1000) - 3600
  const old = await identityToken(app, { sub: 'u1', name: 'Ada', exp: past })
  const fresh = await identityToken(app, { sub: 'u1', name: 'Ada' })
  await tab.evaluate(([old, fresh]) => {
    window.asked = 0
    Gatherkit('identify', { token: old, getToken: async () => (window.asked++, fresh) })
  }, [old, fresh])
  await w.open()
  assert.equal(await w.email.isVisible(), false)
  await w.submit('Signed')
  await w.sent.waitFor()
  assert.equal(await tab.evaluate(() => window.asked), 1)
  const [{ submitter }] = await stored(app)
  assert.deepEqual([submitter.external_id, submitter.verified], ['u1', true])
})

test('without a new token, an idea waits for its author, and is never sent as another person', async (t) => {
  const { app, relay, visit } = await shop(t)
  const tab = await visit('/')
  const w = widget(tab)
  await w.launcher.waitFor()
  const tokens = {
    old: await identityToken(app, { sub: 'u1', exp: Math.floor(Date.now() / 1000) - 3600 }),
    other: await identityToken(app, { sub: 'u2' }), fresh: await identityToken(app, { sub: 'u1' }),
  }
  await tab.evaluate((token) => Gatherkit('identify', { token }), tokens.old)
  await w.open()
  await w.submit('Mine')
  await w.waiting.waitFor()
  assert.match(await w.result.textContent(), /Log in again/)
  assert.equal((await recorded(tab, 'error')).at(-1)[1].kind, 'identity')
  const before = relay.count(submission)
  await tab.evaluate((token) => Gatherkit('identify', { token }), tokens.other)
  await soon('the widget tries to send the idea', () => relay.count(submission) > before)
  const submissions = relay.calls.filter(({ operation }) => operation === submission)
  assert.ok(submissions.every(({ params }) => params.identity_token === tokens.old))
  await tab.evaluate((token) => Gatherkit('identify', { token }), tokens.fresh)
  await w.sent.waitFor()
  const [{ submitter }] = await stored(app)
  assert.deepEqual([submitter.external_id, submitter.verified], ['u1', true])
})

test('votes are sent as the identified person', async (t) => {
  const app = await addApp({ sharing: 'all' })
  const { relay, pages, visit } = await start(t)
  pages['/'] = document(tag(relay, app))
  const tab = await visit('/')
  const w = widget(tab)
  await w.open()
  await w.submit('Dark mode')
  await w.sent.waitFor()
  const token = await identityToken(app, { sub: 'u1' })
  await tab.evaluate((token) => Gatherkit('identify', { token }), token)
  await w.again.click()
  await w.title.fill('dark mode please')
  await w.description.fill('My eyes hurt.')
  for (const [votes, voted] of [[2, true], [1, false], [2, true]]) {
    const before = (await recorded(tab, 'vote')).length
    await w.vote.first().click()
    await soon('the vote is counted', async () => (await recorded(tab, 'vote')).length > before)
    const [, detail] = (await recorded(tab, 'vote')).at(-1)
    assert.deepEqual([detail.votes, detail.voted], [votes, voted])
    assert.equal(await w.vote.first().getAttribute('aria-pressed'), String(voted))
  }
  const { params } = relay.calls.findLast(({ operation }) => operation === 'widget-vote')
  assert.equal(params.identity_token, token)
  assert.equal(params.why, 'dark mode please My eyes hurt.')
})
