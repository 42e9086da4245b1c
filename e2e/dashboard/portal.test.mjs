// The portal of an app, from its switch to what people send there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inProof } from '../browser.mjs'
import { logIn, look, openBrowser, service, submit, until } from './harness.mjs'
import { owner, row, says } from './waiting.mjs'

const widths = [1440, 1024, 390, 320]
async function lookAt(page, name, inSight) {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    await inSight?.evaluate((element) => element.scrollIntoView({ block: 'start' }))
    await look(page, `${name}-${width}`)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

const settings = async (app) => (await owner.call('apps-get', { id: app.id })).app.settings
const statusOf = async (path) => (await fetch(`${service}/p/${path}`)).status

test('a guided page switches the portal on, and one button turns it off', async (t) => {
  await owner.addApp('Taken', { sharing: 'all', portal: { slug: 'ideas', access: 'public' } })
  const app = await owner.addApp('Backlog')
  const dark = await submit(app, { title: 'Dark mode' })
  await submit(app, { title: 'Crash', description: 'Write to ada@example.com about it.' })
  const { context, complaints } = await openBrowser(t, { viewport: { width: 1440, height: 900 } })
  const page = await logIn(context, `/apps/${app.id}?section=portal`)

  // What would become public depends on what is shared.
  await page.getByText('0 requests on the portal').waitFor()
  await page.getByRole('radio', { name: /^All requests/ }).check({ force: true })
  await page.getByText('2 requests on the portal').waitFor()
  const counts = page.getByRole('table')
  assert.equal(await counts.getByRole('link', { name: '2 on the portal, Open' }).getAttribute('href'),
    `../?view=all&app=${app.id}&status=%5B%22opened%22%5D&hidden=false`.replace('../', new URL(service).pathname))
  const found = page.getByRole('list', { name: 'Requests with an e-mail address' })
  await found.getByRole('link', { name: 'Crash' }).waitFor()
  await lookAt(page, 'portal-off')

  // Hiding is undone like any other change.
  await found.getByRole('button', { name: 'Hide Crash' }).click()
  await says(page, '“Crash” is now hidden.')
  await counts.getByRole('link', { name: '1 hidden, Open' }).waitFor()
  await found.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click()
  await found.getByRole('link', { name: 'Crash' }).waitFor()

  // The proposed address follows the public name. It belongs to another app.
  const slug = page.getByLabel('Address', { exact: true })
  assert.equal(await slug.inputValue(), 'backlog')
  await page.getByLabel('Public name (optional)').fill('Idéas')
  assert.equal(await slug.inputValue(), 'ideas')
  await page.getByLabel('Introduction (optional)').fill('Tell us what you need.')
  await page.getByRole('img', { name: 'Preview of the portal of Idéas' }).getByText('Tell us what you need.').waitFor()
  await page.getByRole('button', { name: 'Switch on the portal' }).click()
  await page.getByText('Another app has this already. Choose another one.').waitFor()
  await until(() => slug.evaluate((field) => field === document.activeElement))
  await lookAt(page, 'portal-taken')
  await slug.fill('Our ideas-')
  assert.equal(await slug.inputValue(), 'our-ideas-')
  await page.getByRole('button', { name: 'Switch on the portal' }).click()
  await page.getByText(/^It must be text/).waitFor()
  await slug.fill('our-ideas')
  await page.getByRole('button', { name: 'Switch on the portal' }).click()

  // It is on, with what was on the page.
  await page.getByText('The portal is on.').waitFor()
  const { public_name, sharing, portal } = await settings(app)
  assert.deepEqual([public_name, sharing, portal.access, portal.slug, portal.intro],
    ['Idéas', 'all', 'public', 'our-ideas', 'Tell us what you need.'])
  await lookAt(page, 'portal-on')
  const opened = context.waitForEvent('page')
  await page.getByRole('link', { name: 'Open the portal' }).click()
  const outside = await opened
  await outside.getByRole('link', { name: 'Idéas' }).waitFor()
  await outside.getByRole('link', { name: 'Dark mode' }).waitFor()
  await outside.getByText('Tell us what you need.').waitFor()

  // It shows what the app shares, so that cannot be nothing.
  const here = page.url()
  await page.goto(here.replace('section=portal', 'section=sharing'))
  assert.ok(await page.getByRole('radio', { name: /^None/ }).isDisabled())
  await lookAt(page, 'portal-sharing')
  await page.goto(here)

  // Other settings are saved as on other pages.
  await page.getByLabel('Held words').fill('casino\n poker \n')
  await page.getByRole('radio', { name: /^Only with the link/ }).check({ force: true })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  const saved = (await settings(app)).portal
  assert.deepEqual([saved.held_words, saved.access], [['casino', 'poker'], 'link'])
  assert.equal(await statusOf(`our-ideas/r/${dark.id}`), 404)
  await page.getByRole('button', { name: 'Create link' }).click()
  const code = page.getByRole('region', { name: 'portal link' })
  const link = await code.innerText()
  await outside.goto(link)
  await outside.getByRole('link', { name: 'Idéas' }).waitFor()
  await outside.getByRole('link', { name: 'Dark mode' }).waitFor()
  await page.getByRole('button', { name: 'Replace link…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace link' }).click()
  await until(async () => (await code.innerText()) !== link)
  await page.reload()
  await page.getByText(/^The link was created/).waitFor()
  await code.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Turn off' }).click()
  await says(page, 'The portal is off.')
  await page.getByRole('button', { name: 'Switch on the portal' }).waitFor()
  assert.equal((await outside.goto(`${service}/p/our-ideas/`)).status(), 404)
  assert.deepEqual(complaints, [])
})

test('a picture becomes the logo of the portal', inProof, async (t) => {
  const app = await owner.addApp('Drawn', { sharing: 'all', portal: { slug: 'drawn', access: 'public' } })
  const { context } = await openBrowser(t, { viewport: { width: 1440, height: 900 } })
  const page = await logIn(context, `/apps/${app.id}?section=portal`)
  const logo = page.getByRole('group', { name: 'Logo (optional)' })
  const choose = async (file) => {
    const chooser = page.waitForEvent('filechooser')
    await logo.getByRole('button', { name: /Choose a file|Replace/ }).click()
    await (await chooser).setFiles(file)
  }
  await choose({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from('words') })
  await logo.getByRole('alert').getByText('is not a picture').waitFor()

  // Noise does not become smaller as a PNG, so that only the smallest square fits.
  const noise = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(400, 200)
    const pen = canvas.getContext('2d')
    const pixels = pen.createImageData(400, 200)
    for (let at = 0, seed = 1; at < pixels.data.length; at++) {
      seed = (seed * 48271) % 2147483647
      pixels.data[at] = at % 4 === 3 ? 255 : seed % 256
    }
    pen.putImageData(pixels, 0, 0)
    return [...new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer())]
  })
  await choose({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from(noise) })
  await logo.locator('img').waitFor()
  await page.getByRole('img', { name: 'Preview of the portal of Drawn' }).locator('img').waitFor()
  await lookAt(page, 'portal-logo', logo)
  await page.getByRole('button', { name: 'Save' }).click()
  await until(async () => (await settings(app)).portal.logo !== '')

  const visitor = await context.newPage()
  await visitor.goto(`${service}/p/drawn/`)
  const shown = visitor.locator('header img')
  await until(() => shown.evaluate((image) => image.complete && [48, 64, 96].includes(image.naturalWidth)))
  await look(visitor, 'portal-logo-board')
  await logo.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await until(async () => (await settings(app)).portal.logo === '')
  await visitor.reload()
  await visitor.getByText('D', { exact: true }).waitFor()
  assert.equal(await shown.count(), 0)
})

test('everything written before today is hidden at once, and shown again', async (t) => {
  const app = await owner.addApp('Old', { sharing: 'all' })
  for (const n of [1, 2, 3]) await submit(app, { title: `Idea ${n}` })
  const { context, complaints } = await openBrowser(t)
  await context.clock.setFixedTime(Date.now() + 86_400_000) // the requests are of yesterday then
  const page = await logIn(context, `/apps/${app.id}?section=portal`)
  await page.getByText('3 requests on the portal').waitFor()
  await page.getByText('3 requests were written before today').waitFor()
  await page.getByRole('button', { name: 'Hide these requests' }).click()
  await says(page, '3 requests are now hidden.')
  await page.getByText('0 requests on the portal').waitFor()
  await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click()
  await page.getByText('3 requests on the portal').waitFor()
  assert.deepEqual(complaints, [])
})

test('a visitor’s comment is held, released with a key, and its author is blocked', async (t) => {
  const portal = { slug: 'held', access: 'public', comments: 'anyone', moderation: 'anonymous' }
  const app = await owner.addApp('Held', { sharing: 'all', portal })
  const { id } = await submit(app, { title: 'Dark mode' })
  const { context, complaints } = await openBrowser(t)
  const outside = await context.newPage()
  const comment = async (body) => {
    await outside.goto(`${service}/p/held/r/${id}`)
    await outside.locator('[name=body]').fill(body)
    await outside.locator('[name=name]').fill('Mallory')
    await outside.locator('form:has([name=body])').getByRole('button').click()
    await until(async () => (await owner.call('comments-held', { app_id: app.id })).comments.some((one) => one.body === body))
  }
  for (const body of ['**Yes**, please.', 'Buy this', 'Buy that']) await comment(body)

  const page = await logIn(context, `/?box=quarantine&app=${app.id}`)
  const held = page.getByRole('region', { name: 'Held comments' })
  const items = held.getByRole('listitem')
  await items.nth(2).waitFor()
  await page.getByRole('button', { name: 'Quarantine 3 comments', exact: true }).waitFor()
  await lookAt(page, 'portal-held')

  // The keys of the quarantine, and then the buttons.
  await items.first().focus()
  await page.keyboard.press('j')
  assert.match(await items.nth(1).innerText(), /Buy this/)
  await until(() => items.nth(1).evaluate((item) => item === document.activeElement))
  await page.keyboard.press('k')
  await page.keyboard.press('r')
  await says(page, 'Comment released.')
  await until(async () => (await items.count()) === 2)
  await until(() => items.first().evaluate((item) => item === document.activeElement))
  await page.keyboard.press('Delete')
  await says(page, 'Comment deleted.')
  await until(async () => (await items.count()) === 1)
  await held.getByRole('button', { name: 'Delete and block' }).click()
  await says(page, 'Comment deleted, and its author blocked.')
  await held.waitFor({ state: 'detached' })
  await outside.goto(`${service}/p/held/r/${id}`)
  await outside.getByText('**Yes**, please.').waitFor()

  // In the request, the comment is plain text. Blocking somebody twice changes nothing.
  await page.goto(`${service}/?view=all&request=${id}`)
  const details = page.getByRole('complementary', { name: 'Request details' })
  await details.getByText('**Yes**, please.').waitFor()
  await details.getByRole('button', { name: 'More about the comment by Mallory' }).click()
  await page.getByRole('menuitem', { name: 'Block this person' }).click()
  await says(page, 'Mallory is blocked.')
  await lookAt(page, 'portal-comment', details.getByText('**Yes**, please.'))

  await page.goto(`${service}/apps/${app.id}?section=portal`)
  await page.getByRole('list', { name: 'Blocked people' }).getByRole('button', { name: 'Unblock Mallory' }).click()
  await says(page, 'Mallory can take part again.')
  await page.getByText('Nobody is blocked.').waitFor()
  assert.deepEqual((await owner.call('people-blocked', { app_id: app.id })).people, [])
  assert.deepEqual(complaints, [])
})

test('votes without sign-in are discarded', async (t) => {
  const app = await owner.addApp('Votes', { sharing: 'all', portal: { slug: 'votes', access: 'public' } })
  const { id } = await submit(app, { title: 'Dark mode', email: 'a@example.com' })
  const { context, complaints } = await openBrowser(t)
  const outside = await context.newPage()
  await outside.goto(`${service}/p/votes/r/${id}`)
  await outside.locator('button[name=add]').click()
  const votes = async () => (await owner.call('requests-get', { id })).request.votes
  await until(async () => (await votes()) === 2)

  const page = await logIn(context, `/?view=all&request=${id}`)
  const panel = page.getByRole('complementary', { name: 'Request details' })
  await panel.getByRole('button', { name: 'More about votes' }).click()
  await page.getByRole('menuitem', { name: 'Discard votes without sign-in…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('This removes 1 vote.').waitFor()
  await lookAt(page, 'portal-discard')
  await dialog.getByLabel('To').fill('2020-01-01T00:00')
  await dialog.getByText('Choose a later time.').waitFor()
  await dialog.getByLabel('From').fill('2019-01-01T00:00')
  await dialog.getByText('This removes 0 votes.').waitFor()
  assert.ok(await dialog.getByRole('button', { name: 'Discard votes' }).isDisabled())
  await dialog.getByLabel('To').fill('2100-01-01T00:00')
  await dialog.getByText('This removes 1 vote.').waitFor()
  await dialog.getByRole('button', { name: 'Discard votes' }).click()
  await says(page, '1 vote removed.')
  await panel.getByRole('region', { name: 'Votes' }).getByRole('heading', { name: 'Votes 1' }).waitFor()
  assert.equal(await votes(), 1)
  assert.deepEqual(complaints, [])
})

test('a vote on behalf of somebody says why', async (t) => {
  const app = await owner.addApp('Phone')
  const { id } = await submit(app, { title: 'Dark mode', email: 'a@example.com' })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/?view=all&request=${id}`)
  const votes = page.getByRole('complementary', { name: 'Request details' }).getByRole('region', { name: 'Votes' })
  await votes.getByRole('button', { name: 'Add vote' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Ben')
  await dialog.getByLabel('Why (optional)').fill('He reads at night,\nand his eyes hurt.')
  await lookAt(page, 'add-vote')
  await dialog.getByRole('button', { name: 'Add vote' }).click()
  const why = votes.getByText('He reads at night, and his eyes hurt.')
  await why.waitFor()
  await lookAt(page, 'vote-why', votes)
  await votes.getByRole('button', { name: 'Remove the vote of Ben' }).click()
  await why.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click()
  await why.waitFor()
  assert.deepEqual(complaints, [])
})
