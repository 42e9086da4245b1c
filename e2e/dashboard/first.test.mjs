// The first steps of a new user: from the link that the service prints to the first request.
import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { linger } from '../browser.mjs'
import { email, look, openBrowser, password, service } from './harness.mjs'

test('a new user creates an account and an app, installs the widget and receives a request', async (t) => {
  const { context, complaints } = await openBrowser(t, { permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()

  // Without the link, the page says what to do.
  await page.goto('/')
  await page.getByText('open the link that Gatherkit printed').waitFor()
  await look(page, 'first-no-link')

  const link = new RegExp(`${service}/setup#\\S+`).exec(process.env.PRINTED)
  assert.ok(link, process.env.PRINTED)
  // A wrong link says so at once, and checking the right one does not use it up.
  await page.goto(link[0] + 'x')
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor()
  assert.equal(await page.getByRole('textbox').count(), 0)
  await look(page, 'first-wrong-link')
  // The token is removed from the address, and the page still works after a reload.
  await page.goto(link[0])
  for (const again of [false, true]) {
    if (again) await page.reload()
    await page.getByLabel('Company or project').waitFor()
    assert.equal(page.url(), `${service}/setup`)
  }
  await page.getByLabel('Company or project').fill('Acme')
  await page.getByLabel('Your name').fill('Ada Lovelace')
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill('short')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Password must have at least 10 characters.').waitFor()
  await look(page, 'first-owner')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()

  await page.getByRole('button', { name: 'Create your first app' }).waitFor()
  assert.equal(await page.evaluate(() => JSON.stringify({ ...sessionStorage }).includes('gst_')), false)
  await page.getByRole('button', { name: 'Create your first app' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Shop')
  await page.getByRole('button', { name: 'Create app' }).click()
  await page.getByText('Waiting for your first request…').waitFor()
  const step = (name) => page.getByRole('listitem').filter({ hasText: name })
  await step('To do: Receive a request from your site').waitFor()
  await look(page, 'first-waiting')
  await page.getByRole('button', { name: 'Copy script tag' }).click()
  const tag = await page.evaluate(() => navigator.clipboard.readText())

  // Another site with the script tag has the widget.
  const html = `<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>${tag}</html>`
  const site = http.createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(html))
  await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.after(() => (site.closeAllConnections(), site.close()))
  const shop = await context.newPage()
  await shop.goto(`http://localhost:${site.address().port}/`)
  await shop.getByRole('button', { name: 'Feedback' }).click()
  await shop.getByLabel('Your idea').fill('Pay by invoice')
  await linger(shop)
  await shop.getByRole('button', { name: 'Send idea' }).click()
  await shop.getByRole('heading', { name: 'Thank you!' }).waitFor()

  // The dashboard announces the request to screen readers, without a reload.
  await page.bringToFront()
  await page.getByRole('status').filter({ hasText: 'Request received: Pay by invoice' }).waitFor()
  await step('Done: Receive a request from your site').waitFor()
  await look(page, 'first-arrived')
  await page.getByRole('button', { name: 'Send test request' }).click()
  await page.getByRole('status').filter({ hasText: 'Request received: Test request' }).waitFor()
  await page.getByRole('link', { name: 'Open in inbox' }).click()
  await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { name: /Test request/ }).waitFor()

  // The link works only once.
  const other = await openBrowser(t)
  const late = await other.context.newPage()
  await late.goto(link[0])
  await late.getByRole('heading', { name: 'Already set up' }).waitFor()
  await look(late, 'first-used-link')
  await page.goto('/team/audit')
  await page.getByText('Ada Lovelace joined with the set-up link as owner.').waitFor()
  await page.getByText('Ada Lovelace created the account.').waitFor()
  assert.deepEqual(complaints, [])
})
