// Tests of the documentation. URL is the address of the service. SCREENSHOTS is an optional folder
// for screenshots.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { faults, launch, newContext, some } from './browser.mjs'

const { URL: service, SCREENSHOTS: screenshots } = process.env
const page = `${service}/docs`
let browser

before(async () => {
  browser = await launch()
})

after(() => browser.close())

// open opens the documentation. complaints collects errors, which must stay empty.
async function open(t, options) {
  const context = await newContext(t, browser, options)
  const tab = await context.newPage()
  const complaints = []
  tab.on('console', (message) => complaints.push(`console: ${message.text()}`))
  tab.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  tab.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`))
  tab.on('request', (request) => {
    if (!request.url().startsWith(`${service}/`) && !request.url().startsWith('data:')) complaints.push(`external: ${request.url()}`)
  })
  tab.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`)
  })
  await tab.goto(page, { waitUntil: 'load' })
  return { tab, complaints }
}

for (const [colorScheme, width] of some([['light', 320], ['dark', 320], ['light', 1280], ['dark', 1280]], 1)) {
  test(`${colorScheme} at ${width} px`, async (t) => {
    const { tab, complaints } = await open(t, { colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' })
    if (screenshots) {
      await tab.screenshot({ path: path.join(screenshots, `docs-${colorScheme}-${width}.png`) })
      for (const id of ['errors', 'auth-login']) {
        await tab.goto(`${page}#${id}`)
        await tab.screenshot({ path: path.join(screenshots, `docs-${colorScheme}-${width}-${id}.png`) })
      }
    }
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    assert.equal(wide, 0, 'the page scrolls sideways')
    const color = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const sum = color.match(/\d+/g).slice(0, 3).reduce((total, part) => total + Number(part), 0)
    assert.equal(sum > 3 * 128, colorScheme === 'light', `the background is ${color}`)
    assert.deepEqual(await faults(tab, { dark: colorScheme === 'dark' }), [])
    assert.deepEqual(complaints, [])
  })
}

// The style sheet relies on this.
test('code blocks are pairs of a call and its answer', async (t) => {
  const { tab } = await open(t, {})
  const blocks = await tab.$$eval('main > pre', (all) => all.map((pre) => pre.textContent))
  assert.ok(blocks.length > 50)
  blocks.forEach((text, i) => assert.match(text, i % 2 ? /^\d{3}\n/ : /^((POST|GET|OPTIONS) \/|PUT \{)/))
})

test('every link works', async (t) => {
  const { tab, complaints } = await open(t, { viewport: { width: 1280, height: 800 } })
  const links = await tab.$$eval('a[href]', (all) => all.map((a) => a.href))
  assert.ok(links.length > 20, `there are ${links.length} links`)
  for (const link of new Set(links)) {
    const { hash } = new URL(link)
    if (hash) assert.equal(await tab.$$eval(`[id="${decodeURIComponent(hash.slice(1))}"]`, (found) => found.length), 1, link)
    else assert.equal((await tab.request.get(link)).status(), 200, link)
  }
  assert.deepEqual(complaints, [])
})

test('the table of contents lists every operation of the OpenAPI document', async (t) => {
  const { tab } = await open(t, {})
  const document = await (await tab.request.get(`${service}/api/openapi.json`)).json()
  const operations = Object.keys(document.paths).filter((path) => path.startsWith('/api/')).map((path) => path.split('/').at(-1))
  const links = await tab.$$eval('nav a', (all) => all.map((a) => a.textContent))
  assert.ok(operations.length > 15)
  assert.deepEqual(operations.filter((name) => !links.includes(name)), [])
})
