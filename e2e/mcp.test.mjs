// An agent that uses the tools with the official client. URL and TOKEN are those of a service and of a program.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const { URL: service, TOKEN: token } = process.env

test('an agent lists, reads and triages requests', async (t) => {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { Authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service}/mcp`), { requestInit: { headers } }))
  t.after(() => client.close())
  const use = async (name, args) => {
    const { content, isError } = await client.callTool({ name, arguments: args })
    assert.ok(!isError, content[0].text)
    return JSON.parse(content[1].text)
  }
  const { tools } = await client.listTools()
  assert.ok(tools.some(({ name, annotations }) => name === 'requests-list' && annotations.readOnlyHint))
  const { requests } = await use('requests-list', { status: 'opened' })
  assert.equal(requests.length, 3)
  for (const { id } of requests) {
    const { request } = await use('requests-update', { id, status: 'planned' })
    assert.equal(request.status, 'planned')
  }
  const refused = await client.callTool({ name: 'requests-get', arguments: { id: 'x' } })
  assert.ok(refused.isError)
  assert.match(refused.content[0].text, /^requests\.invalid_id: /)
})
