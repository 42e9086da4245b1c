// What pages of a portal weigh and how they load. URL is the address of the service, FULL says whether to judge
// times. The other variables are those of dashboard/harness.mjs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { soon } from './browser.mjs'
import { Caller, openBrowser, service, submit } from './dashboard/harness.mjs'

const owner = await Caller.logIn()
const kB = 1000
const slow4G = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 750e3 / 8 }

test('pages are small, and nothing moves while they load', async (t) => {
  const app = await owner.addApp('Shop', { sharing: 'all', portal: { access: 'public', slug: 'shop', comments: 'anyone' } })
  let idea
  for (let n = 1; n <= 30; n++) {
    const description = `It would help us ${n} times a day. `.repeat(8)
    idea = await submit(app, { title: `Idea ${n} has a title as people write them`, description })
    await owner.call('requests-update', { id: idea.id, status: ['planned', 'in_progress', 'completed'][n % 3] })
  }
  for (let n = 1; n <= 10; n++) {
    await owner.call('comments-create', { request_id: idea.id, body: `We have **tried** ${n}.`, visibility: 'public' })
  }
  const body = 'Search is *faster*. '.repeat(40)
  const { entry } = await owner.call('entries-create', { app_id: app.id, title: 'Faster search', body })
  await owner.call('entries-publish', { id: entry.id })
  for (const name of ['', '?q=idea', 'roadmap', 'changelog', `r/${idea.id}`, 'new', 'me']) {
    const { context, complaints } = await openBrowser(t)
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', slow4G)
    await page.addInitScript(() => {
      window.seen = { shift: 0, paint: 0 }
      const watch = (type, see) => new PerformanceObserver((list) => list.getEntries().forEach(see)).observe({ type, buffered: true })
      watch('layout-shift', ({ value }) => (window.seen.shift += value))
      watch('largest-contentful-paint', ({ startTime }) => (window.seen.paint = startTime))
    })
    const styles = []
    page.on('response', (response) => response.url().endsWith('.css') && styles.push(response.text()))
    const response = await page.goto(`${service}/p/shop/${name}`, { waitUntil: 'load' })
    await soon('the page is painted', () => page.evaluate(() => window.seen.paint > 0))
    const html = await response.body()
    const css = gzipSync((await Promise.all(styles)).join('')).length
    const { shift, paint } = await page.evaluate(() => window.seen)
    const sent = gzipSync(html).length
    const times = `CLS ${shift}, LCP ${Math.round(paint)} ms`
    console.log(`/${name.split('/')[0]}: ${html.length} bytes, ${sent} gzipped, CSS ${css} gzipped, ${times}`)
    assert.ok(html.length <= 50 * kB && sent <= 12 * kB, `${name} has ${html.length} bytes, ${sent} gzipped`)
    assert.ok(css > 0 && css <= 8 * kB, `${name} has ${css} bytes of CSS`)
    assert.equal(shift, 0, `${name} moves while it loads`)
    if (process.env.FULL && name === '') assert.ok(paint <= 1200, `the board is painted after ${paint} ms`)
    assert.deepEqual(complaints, [])
  }
})
