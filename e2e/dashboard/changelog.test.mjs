// The changelog of an app: drafts, a preview, and what publishing does.
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { logIn, look, openBrowser, screenshots, service, submit, until } from './harness.mjs'
import { owner, says } from './waiting.mjs'

async function lookAt(page, name) {
  for (const width of [1440, 1024, 390, 320]) {
    await page.setViewportSize({ width, height: 900 })
    await look(page, `${name}-${width}`)
  }
  if (screenshots) {
    await page.emulateMedia({ forcedColors: 'active' })
    await page.screenshot({ path: path.join(screenshots, `${name}-forced.png`) })
    await page.emulateMedia({ forcedColors: null })
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

test('an entry is written, previewed, published with its requests, and taken back', async (t) => {
  const app = await owner.addApp('Shop', { sharing: 'all', portal: { slug: 'shop', access: 'public' } })
  const { id } = await submit(app, { title: 'Dark mode', email: 'a@example.com' })
  await submit(app, { title: 'Faster search', email: 'b@example.com' })
  const { context, complaints } = await openBrowser(t, { viewport: { width: 1440, height: 900 } })
  const page = await logIn(context, `/apps/${app.id}`)
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Changelog' }).click()
  await page.getByRole('heading', { name: 'No entries yet' }).waitFor()
  await lookAt(page, 'changelog-empty')
  await page.getByRole('link', { name: 'New entry' }).click()

  // The keyboard is enough: the title has the focus, and Ctrl+Enter saves.
  const title = page.getByLabel('Title')
  await until(() => title.evaluate((field) => field === document.activeElement))
  await page.keyboard.type('Dark colours')
  await page.keyboard.press('Tab')
  await page.keyboard.type('They are **dark**. <b>Really</b>.')
  await page.getByRole('switch', { name: 'Preview' }).check({ force: true })
  const preview = page.getByRole('region', { name: 'Preview' })
  assert.equal(await preview.locator('strong').innerText(), 'dark')
  await preview.getByText('<b>Really</b>.').waitFor()
  await page.getByLabel('Labels').fill('New, Design')
  await page.getByRole('button', { name: 'Link requests…' }).click()
  await page.keyboard.type('dark')
  await page.getByRole('option', { name: /Dark mode/ }).click()
  // For a moment, the field names the option as it was before it was chosen.
  await until(() => page.evaluate(() => {
    const active = document.activeElement.getAttribute('aria-activedescendant')
    return !active || document.getElementById(active) !== null
  }))
  await lookAt(page, 'changelog-link')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('group', { name: 'Linked requests' }).getByRole('link', { name: 'Dark mode' }).waitFor()
  await title.press('Control+Enter')
  await says(page, 'Saved.')
  await page.waitForURL(/entry=[0-9a-f]{8}-/)
  const [entry] = (await owner.call('entries-list', { app_id: app.id })).entries
  assert.deepEqual([entry.state, entry.title, entry.labels, entry.request_ids], ['draft', 'Dark colours', ['New', 'Design'], [id]])
  assert.equal(await page.getByLabel('Labels').inputValue(), 'New, Design')
  await lookAt(page, 'changelog-draft')

  // Somebody else changes the same text.
  await owner.call('entries-update', { id: entry.id, title: 'Theirs' })
  await title.fill('Mine')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('Someone else changed this entry.').waitFor()
  await page.getByRole('heading', { name: 'Theirs' }).waitFor()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await until(async () => (await owner.call('entries-get', { id: entry.id })).entry.title === 'Mine')

  // A new entry is published from its form in one step.
  await page.getByRole('link', { name: 'All entries' }).click()
  await page.getByRole('link', { name: 'New entry' }).click()
  await title.fill('At once')
  await page.getByRole('button', { name: 'Publish…' }).click()
  await page.getByRole('dialog', { name: 'Publish' }).getByRole('button', { name: 'Publish', exact: true }).click()
  await says(page, 'Published.')
  await page.getByRole('link', { name: 'All entries' }).click()
  await page.getByRole('link', { name: 'Mine' }).click()

  // Later, and then now.
  await page.getByRole('button', { name: 'Publish…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByRole('radio', { name: 'At a time' }).check({ force: true })
  await dialog.getByLabel('Time', { exact: true }).fill('2020-01-01T00:00')
  await dialog.getByRole('button', { name: 'Schedule' }).click()
  await dialog.getByText('Choose a time in the future.').waitFor()
  await dialog.getByLabel('Time', { exact: true }).fill('2100-01-01T00:00')
  await dialog.getByRole('switch', { name: /^Complete the linked requests/ }).check({ force: true })
  await dialog.getByText('Completes 1 request and tells nobody.').waitFor()
  await lookAt(page, 'changelog-publish')
  await dialog.getByRole('button', { name: 'Schedule' }).click()
  await says(page, 'Scheduled.')
  await page.getByText('Its requests will be completed then.').waitFor()
  assert.equal((await owner.call('entries-get', { id: entry.id })).entry.state, 'scheduled')
  await page.getByRole('button', { name: 'Publish…' }).click()
  await dialog.getByRole('radio', { name: 'Now' }).check({ force: true })
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await says(page, 'Published.')
  await until(async () => (await owner.call('requests-get', { id })).request.status === 'completed')
  assert.match(await (await fetch(`${service}/p/shop/changelog`)).text(), /Mine/)
  await page.getByRole('link', { name: 'All entries' }).click()
  await page.getByRole('region', { name: 'Published' }).getByRole('link', { name: 'Mine' }).waitFor()
  await lookAt(page, 'changelog-list')

  await page.getByRole('link', { name: 'Mine' }).click()
  await page.getByRole('button', { name: 'Unpublish' }).click()
  await says(page, 'The entry is a draft again.')
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await says(page, '“Mine” deleted.')
  await page.getByRole('link', { name: 'At once' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('viewers read the changelog, and failures say what to do', async (t) => {
  const app = await owner.addApp('Read')
  await owner.call('entries-create', { app_id: app.id, title: 'Draft of the team', body: 'Text' })
  await owner.addUser('viewer', 'Vera')
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/apps/${app.id}?section=changelog`, 'vera@example.com')
  await page.getByRole('link', { name: 'Draft of the team' }).click()
  await page.getByText('Only members can change this.').waitFor()
  assert.ok(await page.getByLabel('Title').isDisabled())
  assert.equal(await page.getByRole('button', { name: /Publish|Save|Delete/ }).count(), 0)
  await context.route('**/api/entries-list', (route) => route.fulfill({
    status: 400, json: { ok: false, error: { code: 'entries.invalid_state', message: 'state is wrong.' } },
  }))
  await page.goto(`${service}/apps/${app.id}?section=changelog`)
  await page.getByRole('heading', { name: 'Loading failed' }).waitFor()
  await lookAt(page, 'changelog-failed')
  await context.unroute('**/api/entries-list')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'Draft of the team' }).waitFor()
  assert.deepEqual(complaints, [])
})
