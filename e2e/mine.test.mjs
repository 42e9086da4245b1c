// Tests of the page of private links. PUBLIC is its address, which the proxy of this file serves, or empty.
// The other variables are those of dashboard/harness.mjs.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import http from 'node:http'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { inProof, post, resultOf, soon } from './browser.mjs'
import { Caller, look, openBrowser, screenshots, service } from './dashboard/harness.mjs'

const owner = await Caller.logIn()
const relay = { keepsCookies: true, foreign: false, posts: [] }
const server = http.createServer((request, response) => {
  const { pathname, search } = new URL(request.url, service)
  const below = process.env.PUBLIC ? new URL(process.env.PUBLIC).pathname : ''
  if (!pathname.startsWith(`${below}/`)) return response.writeHead(404).end('This is not the service.')
  if (request.method === 'POST') relay.posts.push(pathname)
  if (relay.foreign) Object.assign(request.headers, { origin: 'https://example.com', 'sec-fetch-site': 'cross-site' })
  const { hostname, port } = new URL(service)
  const onward = { hostname, port, path: pathname.slice(below.length) + search, method: request.method, headers: request.headers }
  request.pipe(http.request(onward, (answer) => {
    if (!relay.keepsCookies) delete answer.headers['set-cookie']
    answer.pipe(response.writeHead(answer.statusCode, answer.headers))
  }))
})
let site

before(async () => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  site = process.env.PUBLIC || `http://127.0.0.1:${server.address().port}`
})
after(() => server.close())

// Person is somebody with a browser of their own who asked an app for something.
class Person {
  static async of(name, settings) {
    const person = new Person()
    person.app = await owner.addApp(name, settings)
    const time = Date.now().toString(16).padStart(12, '0')
    person.reader = time + randomBytes(26).toString('hex')
    return person
  }

  async call(operation, params) {
    return resultOf(operation, await post(service, operation, { reader: this.reader, ...params }, { 'X-API-Key': this.app.api_key }))
  }

  async ask(title, description = 'That would help.') {
    return (await this.call('widget-submit-request', { title, description })).request
  }

  async link(params) {
    const { url } = await this.call('widget-my-link', params)
    assert.match(url, /\/mine#gsl_\w+$/)
    return `${site}/mine#${url.split('#')[1]}`
  }
}

const comment = (request, body) => owner.call('comments-create', { request_id: request.id, body, visibility: 'public' })

// open opens an address in a new browser.
async function open(t, address, options = {}) {
  relay.posts = []
  const proxy = process.env.PUBLIC && { server: `http://127.0.0.1:${server.address().port}` }
  const { context, complaints, quiet } = await openBrowser(t, { at: site, ...(proxy && { proxy }), ...options })
  // Chromium says so for every page that has the header and came without TLS.
  const expected = (text) => process.env.PUBLIC && text.startsWith('The Cross-Origin-Opener-Policy header has been ignored')
  t.after(() => assert.deepEqual(complaints.filter((text) => !expected(text)), []))
  const page = await context.newPage()
  await page.goto(address)
  return { context, page, quiet }
}

const heading = (page, name) => page.getByRole('heading', { level: 1, name })
const replyTo = (page) => page.getByText('Reply', { exact: true })

test('a link opens the page once and stays in the address', async (t) => {
  const ada = await Person.of('Shop')
  await comment(await ada.ask('Dark mode'), 'Since today.\n\n- at **night**')
  const link = await ada.link()
  const { context, page } = await open(t, link)
  await heading(page, 'Your ideas').waitFor()
  await page.getByText('Since today.').waitFor()
  const item = page.getByRole('listitem').filter({ has: page.locator('strong', { hasText: 'night' }) }).last()
  assert.equal(await item.evaluate((element) => getComputedStyle(element).borderInlineStartWidth), '0px', 'an item looks like a comment')
  assert.equal(await page.getByText('New', { exact: true }).count(), 1)
  assert.equal(page.url(), link)
  await page.reload()
  await heading(page, 'Your ideas').waitFor()
  assert.equal(await page.getByText('New', { exact: true }).count(), 0, 'the news is still new')
  const other = await context.newPage()
  await other.goto(link)
  await heading(other, 'Your ideas').waitFor()
  assert.equal(relay.posts.length, 1, 'the link was posted again')
  const [cookie] = await context.cookies()
  assert.deepEqual(
    [cookie.path, cookie.httpOnly, cookie.sameSite, cookie.expires, cookie.secure],
    [new URL(`${site}/mine`).pathname, true, 'Strict', -1, !process.env.PUBLIC],
  )
  await page.goBack()
  assert.equal(page.url(), 'about:blank', 'the way back leads to the page that has posted the link')
})

test('a reply arrives, and the address stays a bookmark', async (t) => {
  const ada = await Person.of('Shop')
  const request = await ada.ask('Dark mode')
  await comment(request, 'Which page?')
  const link = await ada.link()
  const { page } = await open(t, link)
  await replyTo(page).click()
  await page.getByLabel('Your reply to').fill('All of them.\nEven <b>this</b> one.')
  await page.getByRole('button', { name: 'Send reply' }).click()
  const sent = page.getByText('Your reply was sent.')
  await sent.waitFor()
  assert.ok(await page.evaluate(() => document.activeElement.className === 'sent'), 'the focus is not on what is new')
  await soon('the address is the link', () => page.url() === link)
  const { comments } = await owner.call('comments-list', { request_id: request.id })
  assert.deepEqual(comments.map(({ body, author }) => [author.kind, body]), [
    ['team', 'Which page?'], ['submitter', 'All of them.\nEven <b>this</b> one.'],
  ])
  await page.reload()
  await page.getByText('Even <b>this</b> one.').waitFor()
  assert.equal(await sent.count(), 0, 'a reload says again that a reply was sent')
})

test('a refused reply can be sent again', async (t) => {
  const ada = await Person.of('Shop')
  const request = await ada.ask('Dark mode')
  await comment(request, 'Which page?')
  const link = await ada.link()
  const { page } = await open(t, link, { viewport: { width: 390, height: 800 } })
  await replyTo(page).click()
  await page.getByLabel('Your reply to').fill('é'.repeat(10_012))
  await page.getByRole('button', { name: 'Send reply' }).click()
  await page.getByText(/Characters to remove: .12/).waitFor()
  assert.equal((await page.getByLabel('Your reply to').inputValue()).length, 10_012)
  await look(page, 'mine-too-long')
  // The service does not even read this much, so the page must keep it.
  await page.getByLabel('Your reply to').fill('é'.repeat(70_000))
  await page.getByRole('button', { name: 'Send reply' }).click()
  await page.getByText(/Characters to remove: .60000/).waitFor()
  assert.ok(await page.getByLabel('Your reply to').evaluate((field) => field.matches(':focus[aria-invalid=true]')))
  assert.equal((await page.getByLabel('Your reply to').inputValue()).length, 70_000)
  for (let n = 1; n <= 10; n++) await ada.call('widget-reply', { request_id: request.id, body: `Page ${n}` })
  await page.getByLabel('Your reply to').fill('And another one')
  await page.getByRole('button', { name: 'Send reply' }).click()
  await page.getByText('as soon as the team has answered').waitFor()
  assert.equal(await page.getByLabel('Your reply to').inputValue(), 'And another one')
  assert.equal(page.url(), link)
  await look(page, 'mine-refused')
  await comment(request, 'Thank you!')
  await page.getByRole('button', { name: 'Send reply' }).click()
  await page.getByText('Your reply was sent.').waitFor()
})

test('without scripts, everything works', async (t) => {
  const ada = await Person.of('Shop')
  const requests = []
  for (let n = 1; n <= 21; n++) requests.push(await ada.ask(`Idea ${n}`))
  await comment(requests[0], 'Which page?')
  const link = await ada.link()
  const { page } = await open(t, link, { javaScriptEnabled: false })
  await page.getByLabel('Your link').fill(link)
  await page.getByRole('button', { name: 'Open' }).click()
  await heading(page, 'Your ideas').waitFor()
  assert.equal(await page.getByRole('article').count(), 20)
  await page.getByRole('link', { name: 'Show older ideas' }).click()
  await page.getByRole('heading', { name: 'Idea 1', exact: true }).waitFor()
  assert.equal(await page.getByRole('article').count(), 1)
  await replyTo(page).click()
  await page.getByLabel('Your reply to').fill('All of them.')
  await page.getByRole('button', { name: 'Send reply' }).click()
  await page.getByText('Your reply was sent.').waitFor()
  assert.equal((await owner.call('comments-list', { request_id: requests[0].id })).comments.length, 2)
  await page.getByRole('link', { name: 'Back to the newest ideas' }).click()
  await page.getByRole('heading', { name: 'Idea 21' }).waitFor()
  await page.getByRole('button', { name: 'Sign out on this device' }).click()
  await heading(page, 'Signed out').waitFor()
  await page.goto(`${site}/mine`)
  await heading(page, 'Follow your ideas').waitFor()
})

test('links that do not work say what to do, and post once', async (t) => {
  const ada = await Person.of('Shop')
  await ada.ask('Dark mode')
  const old = await ada.link()
  const { page, quiet } = await open(t, old.slice(0, -1))
  await page.getByText('This link is not complete.').waitFor()
  await quiet(page)
  assert.equal(relay.posts.length, 1)
  const link = await ada.link({ replace: true })
  Object.assign(relay, { foreign: true, posts: [] })
  await page.goto('about:blank')
  await page.goto(link)
  await heading(page, 'We are unavailable right now').waitFor()
  await quiet(page)
  assert.equal(relay.posts.length, 1)
  relay.foreign = false
  await page.getByRole('link', { name: 'Try again' }).click()
  await heading(page, 'Your ideas').waitFor()
  assert.equal(page.url(), link)
  relay.posts = []
  await page.evaluate((hash) => { location.hash = hash }, old.split('#')[1])
  await heading(page, 'This link no longer works').waitFor()
  await quiet(page)
  assert.equal(relay.posts.length, 1)
  await look(page, 'mine-ended')
  await page.getByLabel('Your link').fill(link)
  await page.getByRole('button', { name: 'Open' }).click()
  await heading(page, 'Your ideas').waitFor()
  assert.equal(page.url(), link)
})

test('another link replaces the one that is open', async (t) => {
  const [ada, bob] = [await Person.of('Shop'), await Person.of('Bank')]
  await ada.ask('Dark mode')
  await bob.ask('A card')
  const { page } = await open(t, await ada.link())
  await page.getByRole('heading', { name: 'Dark mode' }).waitFor()
  const link = await bob.link()
  await page.goto(link) // which changes only the fragment
  await page.getByRole('heading', { name: 'A card' }).waitFor()
  assert.equal(page.url(), link)
})

test('the device forgets a link, also the address', async (t) => {
  const ada = await Person.of('Shop')
  const { id } = await ada.ask('Gone')
  const link = await ada.link()
  await owner.call('requests-delete', { id })
  const { context, page, quiet } = await open(t, link)
  await page.getByText('Nothing here yet').waitFor()
  await look(page, 'mine-empty')
  await page.getByRole('button', { name: 'Sign out on this device' }).click()
  await heading(page, 'Signed out').waitFor()
  await quiet(page)
  assert.equal(page.url(), `${site}/mine?forgotten`)
  assert.deepEqual(await context.cookies(), [])
  await page.goBack()
  await heading(page, 'Follow your ideas').waitFor()
  assert.equal(page.url(), `${site}/mine`)
})

test('a browser without cookies is told so', async (t) => {
  const ada = await Person.of('Shop')
  await ada.ask('Dark mode')
  relay.keepsCookies = false
  t.after(() => { relay.keepsCookies = true })
  const { page, quiet } = await open(t, await ada.link())
  await page.getByText('Allow cookies for this site').waitFor()
  await quiet(page)
  assert.equal(relay.posts.length, 1)
  await look(page, 'mine-cookies')
})

test('the page fits on every screen, in light, dark and forced colors, and from right to left', inProof, async (t) => {
  const ada = await Person.of('Shop', { widget: { primary_color: '#F5D90A' } })
  const statuses = ['under_review', 'planned', 'in_progress', 'completed', 'declined']
  for (const status of statuses) {
    const text = `${'A long text that is shown in part. '.repeat(20)}\nhttps://example.com/${'long'.repeat(60)}`
    const request = await ada.ask(`An idea that is ${status}`, text)
    await owner.call('requests-update', { id: request.id, status })
    for (let n = 0; n < 4; n++) await comment(request, `See https://example.com/${'news'.repeat(30)}, it has everything.`)
  }
  await ada.ask('W'.repeat(200), 'لون داكن من فضلك')
  const link = await ada.link()
  for (const [width, locale] of [[320, 'en'], [390, 'ar'], [1024, 'de'], [1440, 'ja']]) {
    const { page } = await open(t, link, { viewport: { width, height: 800 }, locale })
    await page.getByRole('article').first().waitFor()
    assert.equal(await page.locator('html').getAttribute('lang'), locale)
    for (const summary of await page.locator('summary').all()) await summary.click()
    await look(page, `mine-${width}`)
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
    if (screenshots) await page.screenshot({ path: path.join(screenshots, `mine-${width}-forced.png`), fullPage: true })
    const icons = []
    for (const icon of await page.locator('.status svg').all()) icons.push((await icon.screenshot()).toString('base64'))
    assert.equal(new Set(icons).size, statuses.length + 1, 'statuses look alike')
  }
  const { page } = await open(t, `${site}/mine`, { viewport: { width: 320, height: 800 }, locale: 'ar' })
  await look(page, 'mine-asks')
})
