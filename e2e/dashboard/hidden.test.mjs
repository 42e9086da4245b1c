// Requests that are hidden from others outside.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { look, until } from './harness.mjs'
import { row, says, shop } from './waiting.mjs'

test('requests are hidden with a key, together and in the details', async (t) => {
  const { page, complaints, at, now } = await shop(t, ['Crash report with a name', 'Dark mode', 'Faster search'])
  const hidden = (title, is) => until(async () => (await now(title)).hidden === is)
  const mark = (title) => row(page, title).getByTitle('Hidden', { exact: true })

  // One request, with a key, and undone.
  await at('Crash report with a name')
  await page.keyboard.press('h')
  await says(page, '“Crash report with a name” is now hidden.')
  await mark('Crash report').waitFor()
  await hidden('Crash report with a name', true)
  await page.keyboard.press('u')
  await hidden('Crash report with a name', false)
  await mark('Crash report').waitFor({ state: 'detached' })

  // Two requests with the toolbar.
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  const toolbar = page.getByRole('toolbar', { name: 'Selected requests' })
  await toolbar.getByRole('button', { name: 'Hide', exact: true }).click()
  await says(page, '2 requests are now hidden.')
  await hidden('Dark mode', true)
  for (const width of [1440, 1024, 390, 320]) {
    await page.setViewportSize({ width, height: 900 })
    await look(page, `hidden-list-${width}`)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await toolbar.getByRole('button', { name: 'Unhide' }).waitFor()

  // The focus does not disappear with the toolbar.
  const list = page.getByRole('listbox', { name: 'Requests' })
  for (const name of ['Delete', 'Clear selection']) {
    await toolbar.getByRole('button', { name }).click()
    await toolbar.waitFor({ state: 'detached' })
    await until(() => list.evaluate((element) => element.matches(':focus')))
    if (name === 'Delete') await page.keyboard.press('u')
    await row(page, 'Dark mode').waitFor()
    await page.keyboard.press('x')
  }
  await page.keyboard.press('Escape')

  // The filter. A request that is no longer hidden leaves the list.
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').locator('input').fill('hidden')
  await page.getByRole('dialog').getByRole('option', { name: /^Hidden/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/hidden=true/)
  await row(page, 'Faster search').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove filter: Hidden' }).waitFor()
  await page.getByRole('listbox', { name: 'Requests' }).focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')

  // The switch in the details.
  const details = page.getByRole('complementary', { name: 'Request details' })
  const control = details.getByRole('switch', { name: 'Show it only to your team and the submitter' })
  await control.waitFor()
  assert.equal(await control.isChecked(), true)
  for (const width of [1440, 1024, 390, 320]) {
    await page.setViewportSize({ width, height: 900 })
    await control.evaluate((input) => input.scrollIntoView({ block: 'center' }))
    await look(page, `hidden-details-${width}`)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await control.focus()
  await page.keyboard.press('Space')
  await hidden('Crash report with a name', false)
  await until(async () => (await details.getByText('stopped hiding the request').count()) === 2) // with the undo
  await page.keyboard.press('Escape')
  await row(page, 'Crash report').waitFor({ state: 'detached' })
  await row(page, 'Dark mode').waitFor()
  assert.deepEqual(complaints, [])
})
