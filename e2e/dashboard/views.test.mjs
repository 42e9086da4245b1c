// The views of the inbox: what is to be decided, everything, and saved ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inProof } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, submit, until } from './harness.mjs'

const owner = await Caller.logIn()
const app = await owner.addApp('Shop')
for (const [title, status, email] of [
  ['Dark mode', 'opened', 'ada@example.org'], ['Maps', 'under_review', 'bob@example.org'], ['Sound', 'planned', 'ada@example.org'],
  ['Colours', 'completed', 'eve@example.org'], ['Prices', 'declined', 'eve@example.org'],
]) {
  const { id } = await submit(app, { title, email, metadata: { page: 'https://shop.example/cart' } })
  if (status !== 'opened') await owner.call('requests-update', { id, status })
}
const list = (page) => page.getByRole('listbox', { name: 'Requests' })
const titles = (page) => page.locator('.item-title').allInnerTexts()
const shows = (page, ...wanted) =>
  until(async () => JSON.stringify((await titles(page)).toSorted()) === JSON.stringify(wanted.toSorted()))
const views = (page) => page.getByRole('list', { name: 'Views' })
const focused = (part) => until(() => part.evaluate((element) => element === document.activeElement))
const view = (page, name) => views(page).getByRole('link', { name })

test('the inbox shows what is to be decided, and everything with one click', async (t) => {
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context)
  await shows(page, 'Dark mode', 'Maps')
  await page.getByRole('heading', { name: 'To decide' }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('view'), 'decide')
  await view(page, /To decide\s*2/).waitFor()
  await view(page, /All requests\s*5/).click()
  await shows(page, 'Dark mode', 'Maps', 'Sound', 'Colours', 'Prices')

  // Filters narrow a view. Clearing them goes back to it.
  await view(page, /To decide/).click()
  await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: /Under review/ }).click()
  await shows(page, 'Dark mode')
  await page.getByText('Filtered', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Clear all' }).click()
  await shows(page, 'Dark mode', 'Maps')

  // A search in a view offers to search everything.
  await page.getByRole('searchbox').fill('colours')
  await page.getByRole('button', { name: 'Search all requests' }).click()
  await shows(page, 'Colours')
  assert.deepEqual(complaints, [])
})

test('nothing left to decide is a state of its own', inProof, async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context, '/')
  await shows(page, 'Dark mode', 'Maps')
  await list(page).focus()
  const decided = await owner.call('requests-list', { status: ['opened', 'under_review'] })
  for (const { id } of decided.requests) await owner.call('requests-update', { id, status: 'planned' })
  await page.reload()
  await page.getByRole('heading', { name: 'All done' }).waitFor()
  await look(page, 'inbox-done')
  await page.getByRole('link', { name: 'See all requests' }).click()
  await until(async () => (await titles(page)).length === 5)
  for (const { id, status } of decided.requests) await owner.call('requests-update', { id, status })
})

test('a filter is saved as a view, renamed, moved, opened first and deleted', async (t) => {
  const { context, complaints } = await openBrowser(t, { viewport: { width: 1440, height: 900 } })
  const page = await logIn(context, '/?view=all')
  const save = async (status, name, shared) => {
    await view(page, /All requests/).click()
    await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: status }).click()
    await page.getByRole('button', { name: 'Save as view' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save view' })
    await dialog.getByLabel('Name').fill(name)
    if (shared) await dialog.getByText('Share with the team').click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name }).waitFor()
    await focused(page.getByRole('heading', { name }).getByRole('button')) // the button that was pressed is gone
  }
  await save(/Planned/, 'Next')
  await shows(page, 'Sound')
  await view(page, /Next\s*1/).waitFor()
  await save(/Completed/, 'Shipped')
  await save(/Declined/, 'Refused', true)
  const order = async () => (await views(page).getByRole('link').allInnerTexts()).map((text) => text.split('\n')[0])
  await until(async () => (await order()).join() === 'To decide,All requests,Refused,Next,Shipped')
  const colleague = await owner.addUser('viewer', 'Vera')
  assert.equal(colleague.name, 'Vera')
  const vera = await Caller.logIn('vera@example.com')
  assert.deepEqual((await vera.call('views-list')).views.map(({ name, shared }) => [name, shared]), [['Refused', true]])

  // Moved by keys, by the menu and by dragging.
  const ours = async () => (await owner.call('views-list')).views.map(({ name }) => name).join()
  await view(page, /Shipped/).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await until(async () => (await ours()) === 'Refused,Shipped,Next')
  await until(async () => (await order()).join() === 'To decide,All requests,Refused,Shipped,Next')
  const menu = async (name, item) => {
    await page.getByRole('button', { name: `Options of view ${name}` }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await menu('Shipped', 'Move down')
  await until(async () => (await ours()) === 'Refused,Next,Shipped')
  await view(page, /Shipped/).dragTo(view(page, /Next/))
  await until(async () => (await ours()) === 'Refused,Shipped,Next')

  // Another order moves nothing. The menu of the title saves it, too.
  await view(page, /All requests/).click()
  await until(async () => (await titles(page)).length === 5)
  const top = async () => (await list(page).boundingBox()).y
  const before = await top()
  await page.getByRole('button', { name: 'Sort: Newest' }).click()
  await page.getByRole('menuitem', { name: 'Most voted' }).click()
  await page.waitForURL(/sort=most_voted/)
  assert.equal(await top(), before)
  await page.getByRole('heading', { name: 'All requests' }).getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Save as view' }).click()
  await page.getByRole('dialog', { name: 'Save view' }).getByLabel('Name').fill('Wanted')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Wanted' }).waitFor()
  await until(async () => (await owner.call('views-list')).views.at(-1).sort === 'most_voted')
  await menu('Wanted', 'Delete')
  await until(async () => (await ours()) === 'Refused,Shipped,Next')

  // Changing the filter of a saved view offers to update it.
  await view(page, /Next/).click()
  await shows(page, 'Sound')
  await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: /Completed/ }).click()
  await shows(page, 'Sound', 'Colours')
  await page.getByRole('button', { name: 'Update view' }).click()
  await page.getByText('View “Next” updated.').waitFor()
  await focused(page.getByRole('heading', { name: 'Next' }).getByRole('button'))
  await view(page, /Next\s*2/).waitFor()
  await menu('Next', 'Rename')
  await page.getByRole('dialog', { name: 'Rename view' }).getByLabel('Name').fill('Built')
  await page.keyboard.press('Enter')
  await view(page, /Built\s*2/).waitFor()

  await menu('Built', 'Open first')
  await until(async () => (await owner.call('views-list')).views.find(({ name }) => name === 'Built').default)
  await page.goto('/')
  await shows(page, 'Sound', 'Colours')
  await look(page, 'views')

  // Deleting one can be undone. The inbox then begins with what is to be decided again.
  await menu('Built', 'Delete')
  await until(async () => (await ours()) === 'Refused,Shipped')
  await shows(page, 'Dark mode', 'Maps')
  await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: /Undo/ }).click()
  await until(async () => (await ours()) === 'Refused,Shipped,Built')
  assert.deepEqual(complaints, [])
})

test('on a narrow screen, the title is a menu of the views', async (t) => {
  const { context } = await openBrowser(t, { viewport: { width: 390, height: 780 } })
  const page = await logIn(context, '/?view=decide&status=%5B%22opened%22%2C%22under_review%22%5D')
  await shows(page, 'Dark mode', 'Maps')
  await page.getByRole('heading', { name: 'To decide' }).getByRole('button').click()
  await page.getByRole('menuitem', { name: 'All requests' }).click()
  await until(async () => (await titles(page)).length === 5)
})

test('a long name of a view leaves room for the filters', async (t) => {
  const name = 'Requests from the largest customers in Germany and Austria'
  const { view } = await owner.call('views-create', { name, filter: { status: 'opened' } })
  t.after(() => owner.call('views-delete', { id: view.id }))
  for (const width of [1440, 1024, 390]) {
    const { context } = await openBrowser(t, { viewport: { width, height: 800 }, folded: true })
    const page = await logIn(context, `/?view=${view.id}&status=opened&source=widget`)
    await page.getByRole('option').first().waitFor()
    const chip = await page.getByRole('button', { name: 'Remove filter: Source: Widget' }).boundingBox()
    const chips = await page.getByRole('list', { name: 'Active filters' }).boundingBox()
    assert.ok(chip.x + chip.width <= chips.x + chips.width, `a filter is cut off at ${width} pixels`)
    const [title, total] = [await page.locator('.view-title').boundingBox(), await page.locator('.list-head > .number').boundingBox()]
    assert.ok(total.x >= title.x + title.width && total.y < title.y + title.height, `the total is below the name at ${width} pixels`)
    await look(page, `views-long-${width}`)
  }
})

test('everything from one person is a list', async (t) => {
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, '/?view=all')
  const { requests } = await owner.call('requests-list', { query: 'prices' })
  await owner.call('votes-add', { request_id: requests[0].id, email: 'ADA@example.org', name: 'Ada' })
  await list(page).getByRole('option', { name: /Dark mode/ }).click()
  await page.getByRole('link', { name: /^See all from / }).click()
  await shows(page, 'Dark mode', 'Sound', 'Prices')
  const card = page.getByRole('region', { name: 'Person' })
  await card.getByText('ada@example.org').first().waitFor()
  await card.getByText('Device and page').click()
  await card.getByRole('link', { name: /shop\.example/ }).waitFor()
  await look(page, 'person')

  // The same from a voter.
  await list(page).getByRole('option', { name: /Prices/ }).click()
  await page.getByRole('complementary', { name: 'Request details' }).getByRole('link', { name: 'Ada', exact: true }).click()
  await shows(page, 'Dark mode', 'Sound', 'Prices')
  assert.deepEqual(complaints, [])
})

test('requests since the last visit are marked', async (t) => {
  const { context } = await openBrowser(t)
  const page = await logIn(context, '/?view=decide&status=%5B%22opened%22%2C%22under_review%22%5D')
  await shows(page, 'Dark mode', 'Maps')
  assert.equal(await page.locator('.item-fresh').count(), 0)
  await page.evaluate(() => {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith('gatherkit.visit.')) localStorage.setItem(key, JSON.stringify({ since: '2020-01-01T00:00:00.000Z', last: '2020-01-01T00:00:00.000Z' }))
    }
  })
  await page.reload()
  await list(page).getByRole('option', { name: /Dark mode, new, Open/ }).waitFor()
  assert.equal(await page.locator('.item-fresh').count(), 2)
  await page.reload() // is the same visit
  await until(async () => (await page.locator('.item-fresh').count()) === 2)
})

test('End goes to the last request of a long list, and Ctrl+A selects all of them', async (t) => {
  const long = await owner.addApp('Library')
  for (let n = 1; n <= 230; n++) await owner.call('requests-create', { app_id: long.id, title: `Book ${n}` })
  const { context, complaints } = await openBrowser(t)
  const page = await logIn(context, `/?app=${long.id}`)
  await page.getByText('230 requests').waitFor()
  const active = () => list(page).evaluate((box) => document.getElementById(box.getAttribute('aria-activedescendant') ?? '')?.ariaPosInSet)
  await list(page).focus()
  await page.keyboard.press('End')
  await until(async () => (await active()) === '230')
  await list(page).getByRole('option', { name: /^Book 1,/ }).waitFor()
  await page.getByText('End of list: 230 requests').waitFor()
  await page.keyboard.press('Home')
  await until(async () => (await active()) === '1')

  await page.keyboard.press('Control+a')
  await page.getByText('230 selected').waitFor()
  assert.equal(await page.evaluate(() => getSelection().toString()), '')
  await page.keyboard.press('s')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('3')
  await until(async () => (await owner.call('requests-list', { app_id: long.id, status: 'planned', limit: 1 })).total_count === 230)
  assert.deepEqual(complaints, [])
})
