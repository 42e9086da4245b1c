// Runs the snippets of docs/widget.md on a page with another origin than the service. URL is the
// address of the service, and KEY the app's API key.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { launch } from './browser.mjs'

const { URL: service, KEY: key } = process.env
const text = await readFile('../docs/widget.md', 'utf8')
const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind, code]) => (
  { kind, code: code.replaceAll('https://feedback.example.com', service).replaceAll('gk_…', key) }
))
const tag = blocks[0].code
let browser, site, policy, body

before(async () => {
  browser = await launch()
  site = createServer((request, answer) => {
    if (request.url === '/feedback-token') return answer.end('a token')
    if (policy) answer.setHeader('Content-Security-Policy', policy)
    const head = '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Shop</title>'
    answer.setHeader('Content-Type', 'text/html; charset=utf-8').end(`${head}<main>${body}</main>`)
  })
  await new Promise((listening) => site.listen(0, '127.0.0.1', listening))
})
after(async () => {
  await browser.close()
  site.close()
})

// visit opens a page and waits until the widget is ready.
async function visit(t, html, options = {}) {
  ;({ policy } = options)
  body = html
  const page = await browser.newPage()
  t.after(() => page.close())
  const complaints = []
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.addInitScript(() => addEventListener('gatherkit:ready', () => (window.isReady = true)))
  await page.goto(`http://127.0.0.1:${site.address().port}/`)
  await page.waitForFunction(() => window.isReady)
  return { page, complaints }
}

test('the documentation has all kinds of snippets', () => {
  const count = (kind) => blocks.filter((block) => block.kind === kind).length
  assert.ok(count('html') >= 4 && count('js') >= 4 && count('csp') === 1, JSON.stringify(blocks.map(({ kind }) => kind)))
})

for (const [i, { kind, code }] of blocks.entries()) {
  if (kind === 'html') {
    test(`page ${i}`, async (t) => {
      const { page, complaints } = await visit(t, code)
      const own = page.locator('main button')
      await ((await own.count()) ? own : page.getByRole('button', { name: 'Feedback' })).click()
      await page.getByLabel('Your idea').waitFor()
      assert.deepEqual(complaints, [])
    })
  }
  if (kind === 'js') {
    test(`script ${i}`, async (t) => {
      const { page, complaints } = await visit(t, tag)
      const logged = []
      page.on('console', (message) => logged.push(message.text()))
      await page.evaluate((code) => {
        new Function(`${code}\nwindow.useFeedback = typeof useFeedback === 'function' && useFeedback`)()
      }, code)
      if (code.includes('useFeedback')) {
        await page.evaluate((key) => window.useFeedback(key)(), key)
        await page.locator('gatherkit-widget').waitFor({ state: 'detached' })
        return
      }
      await page.getByRole('button', { name: 'Feedback' }).click()
      await page.getByRole('dialog').getByRole('button').first().waitFor()
      if (code.includes('strings')) await page.getByRole('heading', { name: 'Wishes' }).waitFor()
      if (code.includes("'submit'")) {
        await page.getByLabel('Your idea').fill('From the documentation')
        await page.getByRole('button', { name: 'Send idea' }).click()
        await page.getByRole('heading', { name: 'Thank you!' }).waitFor()
        assert.ok(logged.some((line) => line.startsWith('stored as 0')), logged.join('\n'))
      }
      assert.deepEqual(complaints, [])
    })
  }
  if (kind === 'csp') {
    test('the widget works under the documented content security policy', async (t) => {
      const { page, complaints } = await visit(t, tag, { policy: code.trim() })
      await page.getByRole('button', { name: 'Feedback' }).click()
      await page.getByLabel('Your idea').fill('Under the strictest policy')
      await page.getByRole('button', { name: 'Send idea' }).click()
      await page.getByRole('heading', { name: 'Thank you!' }).waitFor()
      assert.deepEqual(complaints.filter((line) => !line.includes('data:,')), []) // the page's own icon
    })
  }
}

test('the documentation names all events and commands', async () => {
  const types = await readFile('../web/widget/src/public.d.ts', 'utf8')
  const events = [...types.matchAll(/^ {2}(\w+): \{ key: string/gm)].map(([, name]) => name)
  const commands = [...types.matchAll(/\(command: ((?:'\w+'(?: \| )?)+)/g)]
    .flatMap(([, names]) => [...names.matchAll(/'(\w+)'/g)].map(([, name]) => name))
  assert.ok(events.length >= 7 && commands.length >= 8, `${events} ${commands}`)
  for (const name of [...events, ...commands]) assert.ok(text.includes(`\`${name}\``), `docs/widget.md does not mention ${name}`)
})
