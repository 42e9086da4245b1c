// One person's data: an admin finds, downloads, corrects and erases it.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, test } from 'node:test'
import { Caller, logIn, look, openBrowser, submit } from './harness.mjs'

const owner = await Caller.logIn()
let app, own, other
before(async () => {
  app = await owner.addApp('Shop', { sharing: 'all' })
  own = await submit(app, { title: 'Dark mode', email: 'eve@example.com', name: 'Eva', external_id: 'user-7' })
  other = await submit(app, { title: 'Export as CSV', email: 'bob@example.com' })
  await owner.call('votes-add', { request_id: own.id, email: 'bob@example.com' })
  await owner.call('votes-add', { request_id: other.id, email: 'Eve@example.com', why: 'Each month.' })
  await owner.call('comments-create', { request_id: other.id, body: 'I have asked eve@example.com.', visibility: 'internal' })
})

async function open(t, address, as = undefined, options = {}) {
  const { context, complaints } = await openBrowser(t, options)
  t.after(() => assert.deepEqual(complaints, []))
  return logIn(context, address, as)
}

const list = (page, name) => page.getByRole('list', { name })

test('a search shows what is stored, and where others mention the person', async (t) => {
  const page = await open(t, '/team')
  await page.getByRole('link', { name: 'Personal data' }).click()
  await page.getByRole('button', { name: 'Find', exact: true }).click()
  await page.getByText('Enter an e-mail address or an id.').waitFor()
  await look(page, 'people-empty')
  await page.getByLabel('E-mail').fill('nobody@example.com')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing is stored about this person').waitFor()
  await look(page, 'people-nothing')
  await page.getByLabel('E-mail').fill(' EVE@example.com ')
  await page.keyboard.press('Enter')
  await page.getByText('1 request, 2 votes, 0 comments, 0 other records').waitFor()
  assert.match(page.url(), /email=EVE%40example\.com/)
  await list(page, 'Requests').getByRole('link', { name: 'Dark mode' }).waitFor()
  await list(page, 'Votes').getByText('Each month.').waitFor()
  await list(page, 'Texts that mention the person').getByRole('link', { name: 'Comment of Export as CSV' }).waitFor()
  await look(page, 'people-found')

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  const file = await downloading
  assert.equal(file.suggestedFilename(), 'person.json')
  const person = JSON.parse(await readFile(await file.path(), 'utf8'))
  assert.deepEqual([person.requests[0].id, person.votes.length, person.count, person.mentions], [own.id, 2, 3, undefined])

  // A second identity that the same records have is offered.
  await page.getByRole('button', { name: 'user-7' }).click()
  await page.getByText('1 request, 1 vote, 0 comments, 0 other records').waitFor()
  assert.equal(await page.getByLabel('Id in your product').inputValue(), 'user-7')
  await page.goBack()
  await page.getByText('1 request, 2 votes').waitFor()
})

test('the list of what a person asked for leads to their data', async (t) => {
  const page = await open(t, '/')
  await page.getByRole('option', { name: /Dark mode/ }).click()
  await page.getByRole('complementary', { name: 'Request details' }).getByRole('link', { name: 'Eva' }).first().click()
  await page.getByRole('region', { name: 'Person' }).getByRole('link', { name: 'Personal data' }).click()
  await page.getByText('1 request, 2 votes, 0 comments, 0 other records').waitFor()
})

test('a name is corrected everywhere', async (t) => {
  const page = await open(t, '/team/people?email=eve%40example.com')
  await page.getByRole('button', { name: 'Correct…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Correct' }).click()
  await dialog.getByText('new_email or new_name is required.').waitFor()
  await dialog.getByLabel('New e-mail').fill('eve')
  await dialog.getByRole('button', { name: 'Correct' }).click()
  await dialog.getByText(/must be an e-mail address/).waitFor()
  await look(page, 'people-correct')
  await dialog.getByLabel('New e-mail').fill('')
  await dialog.getByLabel('New name').fill('Eve')
  await page.keyboard.press('Enter')
  await page.getByText('The person was corrected everywhere.').waitFor()
  assert.equal((await owner.call('requests-get', { id: own.id })).request.submitter.name, 'Eve')
})

test('a person is erased once the address is typed', async (t) => {
  const page = await open(t, '/team/people?email=eve%40example.com')
  await page.getByRole('button', { name: 'Erase…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Votes and comments are deleted, and requests').click()
  await dialog.getByLabel('Type eve@example.com to confirm').fill('eve')
  await dialog.getByRole('button', { name: 'Erase' }).click()
  await dialog.getByText('Type eve@example.com exactly.').waitFor()
  await look(page, 'people-erase')
  assert.equal((await owner.call('requests-get', { id: own.id })).request.submitter.email, 'eve@example.com')

  // What the person adds meanwhile is not erased unseen.
  await owner.call('votes-add', { request_id: (await submit(app, { title: 'Sound' })).id, email: 'eve@example.com' })
  await dialog.getByLabel(/^Type/).fill('eve@example.com')
  await page.keyboard.press('Enter')
  await dialog.getByText(/There is more about this person than expected/).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Erase…' }).click()
  await dialog.getByText('Votes and comments are deleted, and requests').click()
  await dialog.getByLabel(/^Type/).fill('eve@example.com')
  await page.keyboard.press('Enter')
  await page.getByText(/^The person is erased: 1 request, 3 votes, 0 comments\./).waitFor()
  await list(page, 'Requests that stay').getByRole('link', { name: 'Dark mode' }).waitFor()
  await look(page, 'people-erased')
  const { request } = await owner.call('requests-get', { id: own.id })
  assert.deepEqual([request.submitter.email, request.submitter.name], [null, 'Erased person'])
  assert.equal((await owner.call('people-find', { email: 'eve@example.com' })).count, 0)
  await page.getByRole('button', { name: 'Find', exact: true }).click()
  await page.getByText('0 requests, 0 votes, 0 comments, 0 other records').waitFor()
  await list(page, 'Texts that mention the person').getByRole('link').waitFor()
})

test('only admins see the page', async (t) => {
  await owner.addUser('member', 'Grace')
  const page = await open(t, '/team/people?email=eve%40example.com', 'grace@example.com')
  await page.getByText('Only admins can see what is stored about a person.').waitFor()
})
