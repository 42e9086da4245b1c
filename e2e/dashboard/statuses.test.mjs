// The names that an app gives its statuses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { look, until } from './harness.mjs'
import { owner, row, says, setStatus, shop } from './waiting.mjs'

test('an app names its statuses', async (t) => {
  const { app, page, complaints, at, now } = await shop(t, ['Dark mode', 'Faster search'])
  const other = await owner.addApp('Other')
  await page.goto(new URL(`/apps/${app.id}?section=statuses`, page.url()).href)
  const field = page.getByLabel('Planned', { exact: true })
  await field.fill('  On the list ')
  const roadmap = page.getByRole('switch', { name: 'Show on the roadmap of the portal: Under review' })
  assert.equal(await roadmap.isChecked(), false)
  await roadmap.check({ force: true })
  await page.getByLabel('Declined', { exact: true }).fill('x'.repeat(60)) // of which the field takes 40
  for (const width of [1440, 1024, 390, 320]) {
    await page.setViewportSize({ width, height: 900 })
    await look(page, `statuses-${width}`)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. Your pages update within a minute.').waitFor()
  assert.equal(await field.inputValue(), 'On the list')
  const settings = (await owner.call('apps-get', { id: app.id })).app.settings.statuses
  assert.deepEqual([settings.under_review.roadmap, settings.planned.roadmap, settings.opened.roadmap], [true, true, false])
  assert.deepEqual([settings.planned.label, settings.declined.label, settings.opened.label], ['On the list', 'x'.repeat(40), ''])

  // In the inbox of the app, everything has the new name.
  await page.getByRole('link', { name: 'View requests' }).click()
  await row(page, 'Dark mode').waitFor()
  await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: /^On the list/ }).waitFor()
  await at('Dark mode')
  await page.keyboard.press('s')
  await page.getByRole('dialog').getByRole('option', { name: /On the list/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await setStatus(page, 'planned')
  await says(page, '“Dark mode” is now On the list.')
  await until(async () => (await now('Dark mode')).status === 'planned')
  await until(async () => (await row(page, 'Dark mode').innerText()).includes('On the list'))
  await page.keyboard.press('Enter')
  const details = page.getByRole('complementary', { name: 'Request details' })
  await details.getByRole('button', { name: 'Change Status: On the list' }).waitFor()
  await details.getByText('changed the status from Open to On the list').waitFor()
  await look(page, 'statuses-details')

  // Another app has its own names.
  await page.goto(new URL(`/?app=${other.id}&view=all`, page.url()).href)
  await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: /^Planned/ }).waitFor()
  assert.deepEqual(complaints, [])
})
