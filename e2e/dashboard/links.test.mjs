// Links of requests to the issues of a tracker, and the template that creates issues.
import assert from 'node:assert/strict'
import path from 'node:path'
import { before, test } from 'node:test'
import { inProof } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, screenshots, until } from './harness.mjs'

const owner = await Caller.logIn()
let app, plain
before(async () => {
  app = await owner.addApp('Shop')
  plain = await owner.addApp('Website')
  await owner.addUser('member', 'Mira')
  await owner.addUser('viewer', 'Vera')
})

async function open(t, address, as, options = {}) {
  const { context, complaints, quiet } = await openBrowser(t, options)
  t.after(() => assert.deepEqual(complaints, []))
  return { context, quiet, page: await logIn(context, address, as) }
}

const add = async (title, more = {}) => (await owner.call('requests-create', { app_id: app.id, title, ...more })).request
const issues = (page) => page.getByRole('region', { name: 'Issues', exact: true })
const focused = (locator) => until(() => locator.evaluate((element) => element === document.activeElement))
const github = 'https://github.com/acme/shop/issues/new?title={title}&body={description}%0A%0A{url}'

test('a member links a request to an issue, removes the link and undoes that', async (t) => {
  const request = await add('Dark mode')
  const { page } = await open(t, `/?request=${request.id}`, 'mira@example.com')
  const part = issues(page)
  const field = part.getByLabel('Address of an issue')
  await field.waitFor()
  await look(page, 'links-none')
  await field.fill(' https://github.com/acme/shop/issues/12 ')
  await field.press('Enter')
  const link = part.getByRole('link', { name: 'github.com/acme/shop#12' })
  await link.waitFor()
  assert.equal(await field.inputValue(), '')
  for (const [name, value] of [
    ['href', 'https://github.com/acme/shop/issues/12'], ['rel', 'noopener noreferrer'], ['target', '_blank'],
  ]) assert.equal(await link.getAttribute(name), value)
  for (const [url, name] of [
    ['https://acme.atlassian.net/browse/SHOP-7', 'acme.atlassian.net SHOP-7'],
    ['https://linear.app/acme/issue/ENG-123/dark-mode-for-all', 'linear.app ENG-123'],
    ['https://gitlab.example/a/b/-/issues/5/', 'gitlab.example/a/b#5'],
    ['https://bücher.example/', 'xn--bcher-kva.example'],
    [`https://tracker.example/${'long-'.repeat(40)}tail`, 'tail'],
  ]) {
    await field.fill(url)
    await part.getByRole('button', { name: 'Add', exact: true }).click()
    await part.getByRole('link', { name }).waitFor()
  }
  await field.fill('https://github.com/acme/shop/issues/12') // the same link is not added again
  await field.press('Enter')
  await until(async () => (await field.inputValue()) === '')
  assert.equal(await part.getByRole('link').count(), 6)
  const history = page.getByRole('region', { name: 'History' })
  await history.getByText('Mira added a link to "https://github.com/acme/shop/issues/12".').waitFor()
  await look(page, 'links-some')

  await part.getByRole('button', { name: 'Remove github.com/acme/shop#12' }).press('Enter')
  await link.waitFor({ state: 'detached' })
  await focused(field)
  await history.getByText('Mira removed the link to "https://github.com/acme/shop/issues/12".').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await link.waitFor()
})

test('what cannot be linked stays in the field, which says why', inProof, async (t) => {
  const request = await add('Offline mode')
  const { context, page } = await open(t, `/?request=${request.id}`)
  const part = issues(page)
  const field = part.getByLabel('Address of an issue')
  assert.ok(await part.getByRole('button', { name: 'Add', exact: true }).isDisabled())
  for (const text of ['javascript:alert(1)', 'github.com/acme', 'https://ada:secret@github.com/']) {
    await field.fill(text)
    await field.press('Enter')
    await part.getByText('Url must be an address that begins with http:// or https://').waitFor()
    assert.equal(await field.inputValue(), text)
  }
  await look(page, 'links-wrong')
  await context.route('**/api/links-add', (route) => route.abort(), { times: 1 })
  await field.fill('https://a.example/1')
  await field.press('Enter')
  await part.getByText('Cannot reach Gatherkit.').waitFor()
  assert.equal(await field.inputValue(), 'https://a.example/1')
  for (let n = 0; n < 20; n++) await owner.call('links-add', { request_id: request.id, url: `https://a.example/issues/${n}` })
  await field.press('Enter')
  await part.getByText('at most 20 links').waitFor()
  await until(async () => (await part.getByRole('link').count()) === 20)
  await look(page, 'links-full')
  await context.route('**/api/links-remove', (route) => route.abort(), { times: 1 })
  await part.getByRole('button', { name: 'Remove a.example#0' }).click()
  await page.getByText('Could not remove the link.').waitFor()
  assert.equal(await part.getByRole('link').count(), 20)
})

test('a template makes a button that opens the tracker, filled in', async (t) => {
  const request = await add('Größe & <b>', { description: 'One\ntwo' })
  const long = await add('Long', { description: '😀é'.repeat(4_000) })
  const other = (await owner.call('requests-create', { app_id: plain.id, title: 'Plain' })).request
  const { context, page } = await open(t, `/apps/${app.id}?section=issues`)
  const field = page.getByLabel('Address for new issues')
  const error = page.getByText('It must be an address that begins with http:// or https://')
  for (const [name, start] of [['Linear', 'https://linear.app/WORKSPACE/'], ['Jira', 'https://SITE.atlassian.net/'], ['GitHub', 'https://github.com/OWNER/']]) {
    await page.getByRole('button', { name, exact: true }).click()
    assert.ok((await field.inputValue()).startsWith(start))
  }
  await look(page, 'links-template')
  const save = page.getByRole('button', { name: 'Save' })
  await page.getByText('Replace OWNER with your own.').waitFor()
  await save.click()
  await until(() => field.evaluate((it) => it === document.activeElement))
  assert.equal((await owner.call('apps-get', { id: app.id })).app.settings.issue_template, '')
  await field.fill('javascript:alert("{title}")')
  await save.click()
  await error.waitFor()
  assert.equal(await field.inputValue(), 'javascript:alert("{title}")')
  await look(page, 'links-template-wrong')
  await field.fill(` ${github}\n`)
  await save.click()
  await page.getByText('Saved.').waitFor()
  assert.equal((await owner.call('apps-get', { id: app.id })).app.settings.issue_template, github)

  await page.goto(`/?request=${request.id}`)
  const button = issues(page).getByRole('link', { name: 'Create issue' })
  assert.equal(await button.getAttribute('rel'), 'noopener noreferrer')
  const query = async () => new URL(await button.getAttribute('href')).searchParams
  assert.equal((await query()).get('title'), 'Größe & <b>')
  assert.equal((await query()).get('body'), `One\ntwo\n\n${new URL(page.url()).origin}/?request=${request.id}`)
  await look(page, 'links-create')
  await context.route('https://github.com/**', (route) => route.fulfill({ contentType: 'text/html', body: '<title>New issue</title>' }))
  const opened = context.waitForEvent('page')
  await button.click()
  const tracker = await opened
  await until(async () => (await tracker.title()) === 'New issue')
  assert.equal(await tracker.evaluate(() => window.opener), null)
  await tracker.close()

  await page.goto(`/?request=${long.id}`)
  await button.waitFor()
  const href = await button.getAttribute('href')
  assert.ok(href.length <= 7_500 && href.length > 6_500, `${href.length} characters`)
  const body = (await query()).get('body')
  assert.ok(body.endsWith(`…\n\n${new URL(page.url()).origin}/?request=${long.id}`), 'the end of the address is cut off')
  assert.match(body, /^(😀é)+😀?…/u)

  await page.goto(`/?request=${other.id}`)
  await issues(page).getByLabel('Address of an issue').waitFor()
  assert.equal(await button.count(), 0, 'an app without a template has the button')
  await page.goto(`/apps/${app.id}?section=issues`)
  await field.fill('')
  await save.click()
  await page.getByText('Saved.').waitFor()
  await page.goto(`/?request=${request.id}`)
  await issues(page).getByLabel('Address of an issue').waitFor()
  assert.equal(await button.count(), 0)
})

test('a viewer sees links only, and no section without links', inProof, async (t) => {
  await owner.call('apps-update-settings', { id: app.id, settings: { issue_template: github } })
  const request = await add('Print'), bare = await add('Export')
  await owner.call('links-add', { request_id: request.id, url: 'https://github.com/acme/shop/pull/3' })
  const { page, quiet } = await open(t, `/?request=${request.id}`, 'vera@example.com')
  await issues(page).getByRole('link', { name: 'github.com/acme/shop#3' }).waitFor()
  assert.equal(await issues(page).getByRole('button').count(), 0)
  assert.equal(await issues(page).getByRole('textbox').count(), 0)
  assert.equal(await issues(page).getByRole('link').count(), 1)
  await look(page, 'links-viewer')
  await page.goto(`/?request=${bare.id}`)
  await page.getByRole('region', { name: 'History' }).waitFor()
  await quiet(page)
  assert.equal(await issues(page).count(), 0)
  await page.goto(`/apps/${app.id}?section=issues`)
  await page.getByText('Only admins can change this.').waitFor()
  assert.ok(await page.getByLabel('Address for new issues').isDisabled())
  assert.equal(await page.getByRole('button', { name: 'GitHub' }).count(), 0)
})

test('links of others appear, those of a merged request stay with it, and a script stays text', async (t) => {
  const request = await add('Sync'), merged = await add('Sync all')
  await owner.call('links-add', { request_id: merged.id, url: 'https://a.example/issues/1' })
  await owner.call('requests-merge', { id: merged.id, into_id: request.id })
  const { page } = await open(t, `/?request=${request.id}`)
  await issues(page).getByLabel('Address of an issue').waitFor()
  await owner.call('links-add', { request_id: request.id, url: 'https://a.example/<img src=x onerror=alert(1)>' })
  await issues(page).getByRole('link', { name: 'a.example/%3Cimg' }).waitFor()
  assert.equal(await issues(page).getByRole('listitem').count(), 1)
  await page.goto(`/?request=${merged.id}`)
  await issues(page).getByRole('link', { name: 'a.example#1' }).waitFor()
})

test('links fit on any screen', inProof, async (t) => {
  const request = await add('A long one')
  for (const tail of ['acme/shop/issues/12', `${'w'.repeat(300)}`, `a/${'b/'.repeat(60)}c?d=${'e'.repeat(200)}`]) {
    await owner.call('links-add', { request_id: request.id, url: `https://${'sub.'.repeat(20)}example/${tail}` })
  }
  const { page } = await open(t, `/?request=${request.id}`)
  for (const [address, name, part] of [
    [`/?request=${request.id}`, 'links', issues(page).getByRole('link', { name: '#12' })],
    [`/apps/${app.id}?section=issues`, 'links-template', page.getByLabel('Address for new issues')],
  ]) {
    await page.goto(address)
    await part.waitFor()
    for (const width of [1440, 390, 320]) {
      await page.setViewportSize({ width, height: 900 })
      await part.scrollIntoViewIfNeeded()
      await look(page, `${name}-${width}`)
    }
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ forcedColors: 'active', colorScheme, reducedMotion: 'reduce' })
      if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}-forced-${colorScheme}.png`) })
    }
    await page.emulateMedia({ forcedColors: 'none', reducedMotion: 'reduce' })
  }
})
