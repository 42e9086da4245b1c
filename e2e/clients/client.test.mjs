// Uses the package of the TypeScript client as a program does. URL, TOKEN and KEY say which service to
// call. An address may submit once a minute.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { Gatherkit, GatherkitError } from '@gatherkit/client'

const { URL: url, TOKEN: token, KEY: apiKey } = process.env
const gatherkit = new Gatherkit({ url: url + '/', token })
const [app] = (await gatherkit.call('apps-list', {})).apps
const unique = (text) => `${text} ${Date.now()}`

test('sets and clears fields', async () => {
  const { request } = await gatherkit.call('requests-create', { app_id: app.id, title: 'Dark mode', eta: '2027-Q1' })
  assert.equal(request.eta, '2027-Q1')
  const changed = await gatherkit.call('requests-update', { id: request.id, eta: null, status: 'planned' })
  assert.deepEqual([changed.request.eta, changed.request.status, changed.request.title], [null, 'planned', 'Dark mode'])
})

test('reads all pages of a list', async () => {
  const tag = unique('pages')
  for (let i = 0; i < 5; i++) await gatherkit.call('requests-create', { app_id: app.id, title: `Idea ${i}`, tags: [tag] })
  const titles = []
  for await (const request of gatherkit.each('requests-list', { tag, limit: 2 })) titles.push(request.title)
  assert.deepEqual(titles, ['Idea 4', 'Idea 3', 'Idea 2', 'Idea 1', 'Idea 0'])
  for await (const request of gatherkit.each('requests-list', { tag: unique('none') })) assert.fail(request.title)
})

test('throws what the service refuses', async () => {
  await assert.rejects(gatherkit.call('requests-create', { app_id: app.id, title: '' }), (error) => {
    assert(error instanceof GatherkitError)
    assert.deepEqual([error.name, error.code, error.status], ['GatherkitError', 'requests.invalid_title', 400])
    assert.match(error.requestId, /^[0-9a-f-]{36}$/)
    return true
  })
  await assert.rejects(new Gatherkit({ url: url + '/docs', token }).call('auth-me', {}), { code: 'network' })
})

test('waits for as long as the service asks', async () => {
  let address = '203.0.113.11'
  const waited = []
  const submitter = new Gatherkit({
    url,
    apiKey,
    fetch: (to, init) => fetch(to, { ...init, headers: { ...init.headers, 'X-Forwarded-For': address } }),
    sleep: async (ms) => {
      waited.push(ms)
      address = '203.0.113.12'
    },
  })
  for (let i = 0; i < 2; i++) await submitter.call('widget-submit-request', { title: unique('Limit'), description: '' })
  assert.equal(waited.length, 1)
  assert(waited[0] > 1000 && waited[0] <= 120_000, String(waited))
  const impatient = new Gatherkit({ ...submitter.options, retries: 0 })
  await assert.rejects(impatient.call('widget-submit-request', { title: 'Limit', description: '' }), ({ code, retryAfter }) => {
    return code === 'api.rate_limited' && retryAfter >= 1
  })
})

test('sends a call again only if that cannot do anything twice', async () => {
  let calls = 0
  let failures = 0
  let fail = () => Promise.reject(new TypeError('fetch failed'))
  const options = {
    url,
    sleep: async () => {},
    fetch: async (to, init) => {
      const answer = await fetch(to, { ...init, headers: { ...init.headers, 'X-Forwarded-For': '203.0.113.13' } })
      calls++
      return failures-- > 0 ? fail(answer) : answer
    },
  }
  const caller = new Gatherkit({ ...options, token })
  const reset = (n) => ([failures, calls] = [n, 0])

  const once = unique('once')
  reset(2)
  const submitter = new Gatherkit({ ...options, apiKey })
  const sent = await submitter.call('widget-submit-request', { title: once, description: '', idempotency_key: once })
  assert.equal(calls, 3)
  const stored = await gatherkit.call('requests-list', { query: once })
  assert.deepEqual(stored.requests.map(({ id }) => id), [sent.request.id])

  reset(1)
  await assert.rejects(caller.call('requests-create', { app_id: app.id, title: 'Twice' }), ({ code, status, cause }) => {
    return code === 'network' && status === 0 && cause.message === 'fetch failed'
  })
  assert.equal(calls, 1)
  const unkeyed = { title: 'Twice', description: '', idempotency_key: undefined }
  reset(1)
  await assert.rejects(submitter.call('widget-submit-request', unkeyed), { code: 'network' })
  assert.equal(calls, 1)

  const read = async () => {
    for await (const request of caller.each('requests-list', { limit: 200 })) assert(request.id)
  }
  reset(9)
  await assert.rejects(read(), { code: 'network' })
  assert.equal(calls, 4)

  let headers = {}
  fail = () => Response.json({ ok: false, error: { code: 'api.unavailable', message: 'Later.' } }, { status: 503, headers })
  reset(1)
  await read()
  assert.equal(calls, 2)
  headers = { 'Retry-After': '3600' }
  reset(1)
  await assert.rejects(read(), { code: 'api.unavailable', retryAfter: 3600 })
  assert.equal(calls, 1)
  reset(1)
  await assert.rejects(caller.call('requests-delete', { id: sent.request.id }), { code: 'api.unavailable' })
  assert.equal(calls, 1)
})

test('says who answers if it is not Gatherkit', async (t) => {
  let status
  let calls
  const server = createServer((request, response) => {
    calls++
    response.writeHead(status, status === 308 ? { Location: url + request.url } : {}).end('<h1>Trouble</h1>')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const lost = new Gatherkit({ url: `http://127.0.0.1:${server.address().port}`, token, sleep: async () => {} })
  for (const [answer, tries] of [[502, 4], [503, 4], [504, 4], [429, 4], [500, 1], [404, 1], [200, 1], [308, 4]]) {
    [status, calls] = [answer, 0]
    // fetch does not say that it has met a redirect.
    const want = { code: 'network', status: answer === 308 ? 0 : answer, message: /check the address/ }
    await assert.rejects(lost.each('apps-list').next(), want)
    assert.equal(calls, tries, String(answer))
  }
})

test('stops when it is aborted', async () => {
  const controller = new AbortController()
  const waiting = new Gatherkit({ url: 'http://127.0.0.1:1', token })
  setImmediate(() => controller.abort(new Error('enough')))
  const read = async () => {
    for await (const request of waiting.each('requests-list', {}, controller.signal)) assert.fail(request.title)
  }
  await assert.rejects(read(), { message: 'enough' })
})
