// An app's settings with the real widget as a preview, and actions that cannot be undone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Caller, logIn, look, openBrowser, submit, until } from './harness.mjs'

const owner = await Caller.logIn()

async function open(t, app, section, options) {
  const { context, complaints } = await openBrowser(t, options)
  t.after(() => assert.deepEqual(complaints, []))
  const page = await logIn(context, `/apps/${app.id}`)
  const go = (name) => page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name }).click()
  await go(section)
  return { page, go }
}
const saved = async (app) => (await owner.call('apps-get', { id: app.id })).app

test('the preview shows settings before they are saved', async (t) => {
  const app = await owner.addApp('Shop')
  const { page } = await open(t, app, 'Widget')
  const preview = page.frameLocator('iframe')
  await preview.getByRole('button', { name: 'Feedback' }).waitFor()
  await page.getByLabel('Button text').fill('Wishes')
  await preview.getByRole('button', { name: 'Wishes' }).waitFor()
  await page.getByLabel('Color', { exact: true }).fill('no color')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/must be|#RRGGBB/).first().waitFor()
  await look(page, 'app-widget')
  await page.getByLabel('Color', { exact: true }).fill('#FFAA00')
  await page.getByRole('radio', { name: 'Required' }).check({ force: true })

  // The preview does not send ideas.
  await preview.getByLabel('Your idea').fill('Dark mode')
  await preview.getByRole('textbox', { name: 'E-mail' }).fill('a@example.com')
  await preview.getByRole('button', { name: 'Send idea' }).click()
  await preview.getByText('This is a preview').first().waitFor()
  assert.equal((await owner.call('requests-list', { app_id: app.id })).total_count, 0)

  // The page asks before it discards changes.
  await page.getByRole('link', { name: 'Insights' }).click()
  await page.getByRole('button', { name: 'Keep editing' }).click()
  assert.equal((await saved(app)).settings.widget.button_text, 'Feedback')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await until(() => page.getByText('Saved.').evaluate((text) => text === document.activeElement)) // the button is gone
  await page.getByLabel('Button text').fill('Ideas')
  await page.getByRole('button', { name: 'Discard' }).press('Enter')
  await until(() => page.evaluate(() => document.activeElement.className === 'saved'))
  const { widget } = (await saved(app)).settings
  assert.deepEqual([widget.button_text, widget.primary_color, widget.require_email], ['Wishes', '#FFAA00', true])
})

test('origins, a new key, a new name, and deletion', async (t) => {
  const app = await owner.addApp('Shop two')
  for (const n of [1, 2, 3]) await submit(app, { title: `Idea ${n}`, email: 'a@example.com' })
  const { page, go } = await open(t, app, 'Allowed origins')
  await page.getByRole('button', { name: 'Add origin' }).click()
  await page.getByLabel('Origin 1').fill('shop.example')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.field-error').filter({ hasText: /\S/ }).first().waitFor()
  await page.getByLabel('Origin 1').fill('https://shop.example')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  assert.deepEqual((await saved(app)).settings.allowed_origins, ['https://shop.example'])

  await go('API key')
  await page.getByRole('button', { name: 'Regenerate key…' }).click()
  const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'))
  await look(page, 'app-new-key')
  const confirm = dialog.getByRole('button', { name: 'Regenerate key', exact: true })
  assert.ok(await confirm.isDisabled(), 'the button is enabled before the name is typed')
  await dialog.getByRole('textbox').fill('Shop two')
  await confirm.click()
  await page.getByText('API key regenerated').first().waitFor()
  assert.notEqual((await saved(app)).api_key, app.api_key)

  await go('General')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Our shop')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByText('App renamed').first().waitFor()
  await page.getByRole('textbox', { name: 'Public name (optional)' }).fill('The shop')
  await look(page, 'app-names')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  const { name, settings } = await saved(app)
  assert.deepEqual([name, settings.public_name], ['Our shop', 'The shop'])
  await page.getByRole('button', { name: 'Delete app…' }).click()
  await dialog.getByText(/3 requests/).first().waitFor()
  await dialog.getByRole('textbox').fill('Our shop')
  await dialog.getByRole('button', { name: /Delete app and/ }).click()
  await page.getByRole('heading', { name: 'Apps', level: 1 }).waitFor()
  assert.ok((await owner.call('apps-list')).apps.every(({ id }) => id !== app.id))
})

test('the checklist of a new app says what the service knows, turns the rest on, and disappears', async (t) => {
  const app = await owner.addApp('Museum')
  const { page } = await open(t, app, 'Install')
  const list = page.getByRole('region', { name: 'Set up Museum' })
  const step = (name) => list.getByRole('listitem').filter({ hasText: name })
  const settings = async () => (await saved(app)).settings
  await step('To do: Receive a request').waitFor()
  await look(page, 'app-setup')

  // A test from the dashboard does not show that the site sends requests.
  await page.getByRole('button', { name: 'Send test request' }).click()
  await page.getByText('Request received: Test request').waitFor()
  await page.getByText('The key works.').waitFor()
  assert.ok(await step('To do: Receive a request').isVisible())
  await submit(app, { title: 'Open at night', email: 'a@example.com' })
  await step('Done: Receive a request').waitFor()

  await list.getByRole('button', { name: 'Turn on: Show similar ideas' }).click()
  await step('Done: Show similar ideas').waitFor()
  assert.equal((await settings()).sharing, 'triaged')
  assert.ok(await list.evaluate((card) => card === document.activeElement), 'the focus is lost')
  await page.getByRole('button', { name: 'Undo' }).click()
  await step('To do: Show similar ideas').waitFor()
  assert.equal((await settings()).sharing, 'none')
  await list.getByRole('button', { name: 'Turn on: Show similar ideas' }).click()
  await step('Done: Show similar ideas').waitFor()
  await list.getByRole('button', { name: 'Turn on: Accept files' }).click()
  await list.waitFor({ state: 'detached' })
  assert.equal((await settings()).widget.allow_file_uploads, true)
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main')
  const next = page.getByRole('region', { name: 'Next steps' })
  for (const name of ['Invite your team', 'Connect Slack', 'Identify people']) {
    await next.getByRole('listitem').filter({ hasText: `To do: ${name}` }).waitFor()
  }
  await look(page, 'app-next')
  await page.getByRole('button', { name: 'Undo' }).click()
  await step('To do: Accept files').waitFor()
  assert.equal((await settings()).widget.allow_file_uploads, false)
  await list.getByRole('button', { name: 'Turn on: Accept files' }).click()
  await next.getByRole('button', { name: 'Dismiss' }).click()
  await next.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText('Paste this line anywhere').waitFor()
  assert.equal(await next.count(), 0)
})
