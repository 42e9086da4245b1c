// Verifies deliveries with the JavaScript library of Standard Webhooks. URL is the address of the service,
// TOKEN an access token of an owner, and KEY an app's API key.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { text } from 'node:stream/consumers'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { post, resultOf } from './browser.mjs'

const { URL: service, TOKEN: token, KEY: key } = process.env
const deliveries = [] // not yet read
let receiver, id

before(async () => {
  receiver = createServer(async (request, answer) => {
    deliveries.push({ body: await text(request), headers: request.headers })
    answer.end()
    receiver.emit('delivery')
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${receiver.address().port}/`
  id = (await call('webhooks-create', { name: 'Support desk', url })).webhook.id
})

after(() => {
  receiver.close()
  receiver.closeAllConnections()
})

async function call(operation, params) {
  const credential = operation.startsWith('widget-') ? { 'X-API-Key': key } : { Authorization: `Bearer ${token}` }
  return resultOf(operation, await post(service, operation, params, credential))
}

const secret = async (rotate) => (await call('webhooks-secret', { id, rotate })).secret

// submit submits a request and returns the delivery about it.
async function submit(title) {
  await call('widget-submit-request', { title, description: 'Größe ✓ \u{1f600} <b>&amp;\\' })
  while (deliveries.length === 0) await once(receiver, 'delivery')
  return deliveries.shift()
}

test('a delivery verifies', async () => {
  const { body, headers } = await submit('A wish')
  const verifier = new Webhook(await secret(false))
  const event = verifier.verify(body, headers)
  assert.equal(event.type, 'request.created')
  assert.equal(event.data.id, headers['webhook-id'])
  assert.equal(event.data.request.title, 'A wish')
  assert.match(headers['content-type'], /^application\/json/)
  const refuses = (other, changed) => assert.throws(() => verifier.verify(other, { ...headers, ...changed }), WebhookVerificationError)
  refuses(body.replace('A wish', 'A fish'), {})
  refuses(body, { 'webhook-id': 'another' })
  refuses(body, { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) })
})

test('a test verifies', async () => {
  const { attempt } = await call('webhooks-test', { id })
  assert.equal(attempt.outcome, 'delivered')
  const { body, headers } = deliveries.shift()
  assert.equal(new Webhook(await secret(false)).verify(body, headers).type, 'webhook.test')
})

test('during a rotation, both secrets verify', async () => {
  const before = await secret(false)
  const fresh = await secret(true)
  assert.notEqual(before, fresh)
  const { body, headers } = await submit('Another wish')
  for (const one of [before, fresh]) assert.equal(new Webhook(one).verify(body, headers).data.request.title, 'Another wish')
  const last = await secret(true)
  const next = await submit('A third wish')
  for (const one of [fresh, last]) new Webhook(one).verify(next.body, next.headers)
  assert.throws(() => new Webhook(before).verify(next.body, next.headers), WebhookVerificationError)
})
