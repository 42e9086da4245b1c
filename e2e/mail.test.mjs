// A mail and the pages of its links: CONFIRM, or LETTER (a file), STOP_ONE and STOP. The other variables are those
// of dashboard/harness.mjs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { look, openBrowser } from './dashboard/harness.mjs'

const { CONFIRM, LETTER, STOP_ONE, STOP } = process.env

async function open(t, address) {
  const { context, complaints } = await openBrowser(t, { viewport: { width: 320, height: 640 } })
  t.after(() => assert.deepEqual(complaints, []))
  const page = await context.newPage()
  await page.goto(address)
  return page
}

const heading = (page, name) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor()

if (CONFIRM) {
  test('a person confirms with the button', async (t) => {
    const page = await open(t, CONFIRM)
    await heading(page, 'E-mails about your ideas')
    await look(page, 'mail-confirm')
    await page.reload() // which confirms nothing
    await page.getByRole('button', { name: 'Yes, e-mail me' }).press('Enter')
    await heading(page, "You're subscribed")
    await look(page, 'mail-confirmed')
  })
}

if (LETTER) {
  test('a mail is readable in light and dark', async (t) => {
    const page = await open(t, `file://${LETTER}`)
    await heading(page, 'Update on your idea')
    await page.getByText('Here you are.').waitFor()
    await look(page, 'mail-news')
    assert.equal(await page.locator('img, script, link').count(), 0)
  })
}

if (STOP) {
  test('a person gets fewer mails, and none about one idea', async (t) => {
    const page = await open(t, STOP)
    await page.getByRole('radio', { name: 'Once a day at most' }).check()
    await look(page, 'mail-pace')
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByText('Saved.').waitFor()
    assert.ok(await page.getByRole('radio', { name: 'Once a day at most' }).isChecked())
    await page.getByRole('radio', { name: 'Soon after there is news' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()

    await page.goto(STOP_ONE)
    await page.getByText(/no more e-mails about “.*Dark mode/).waitFor()
    await look(page, 'mail-stop')
    await page.getByRole('button', { name: 'Stop e-mails' }).click()
    await heading(page, 'Stopped')
    await look(page, 'mail-stopped')
  })
}
