// Forced colors, such as the contrast themes of Windows: they replace all colors and remove
// shadows, so what is chosen must also show without them.
import assert from 'node:assert/strict'
import path from 'node:path'
import { before, test } from 'node:test'
import { some } from '../browser.mjs'
import { Caller, logIn, openBrowser, screenshots, submit } from './harness.mjs'

const owner = await Caller.logIn()
let app

before(async () => {
  app = await owner.addApp('Shop')
  for (let n = 1; n <= 5; n++) await submit(app, { title: `Idea ${n}`, email: `p${n}@example.com` })
})

// open opens a page. picture returns what an element looks like, or a part of it, without the pointer.
async function open(t, address, scheme = 'light') {
  const { context, complaints, quiet } = await openBrowser(t, { forcedColors: 'active', colorScheme: scheme })
  t.after(() => assert.deepEqual(complaints, []))
  const page = await logIn(context, address)
  await page.emulateMedia({ forcedColors: 'active', colorScheme: scheme, reducedMotion: 'reduce' })
  const picture = async (element, part) => {
    await page.mouse.move(0, 0)
    await page.evaluate(() => document.activeElement?.blur())
    const { x, y, width, height } = await element.boundingBox()
    return (await page.screenshot({ clip: { x, y, width: part ?? width, height } })).toString('base64')
  }
  const shoot = (name) => screenshots && page.screenshot({ path: path.join(screenshots, `forced-${name}-${scheme}.png`) })
  return { page, picture, quiet, shoot }
}

for (const scheme of some(['light', 'dark'], 1)) {
  test(`the inbox in forced colors, ${scheme}`, async (t) => {
    const { page, picture, quiet, shoot } = await open(t, '/', scheme)
    await page.getByRole('option').first().waitFor()
    const box = page.locator('.item .check-box').first()
    const tick = box.locator('svg')
    assert.equal(await tick.isVisible(), false, 'a box that is not checked shows a tick')
    await page.locator('.item-check').first().click()
    assert.ok(await tick.isVisible())
    await shoot('selected')
    await page.keyboard.press('Escape')

    const dots = page.getByRole('group', { name: 'Status' }).locator('.status-dot')
    const marks = []
    for (const dot of await dots.all()) marks.push(await picture(dot))
    assert.equal(new Set(marks).size, 7, 'statuses look alike')

    const row = page.getByRole('option').nth(2)
    const closed = await picture(row, 6)
    await row.click()
    await page.getByRole('complementary', { name: 'Request details' }).getByRole('heading', { level: 2 }).waitFor()
    await quiet(page)
    assert.notEqual(await picture(row, 6), closed, 'the open request looks like the others')
    await shoot('open')

    const inbox = page.getByRole('link', { name: 'Inbox', exact: true })
    const current = await picture(inbox, 8)
    await page.goto('/apps')
    assert.notEqual(await picture(inbox, 8), current, 'the current page looks like the others')
  })
}

test('what is chosen on the other pages shows in forced colors', async (t) => {
  const { page, picture, shoot } = await open(t, '/insights')
  const edge = 4 // without the text, which may be bold
  const changes = async (what, element, choose) => {
    await element.waitFor()
    const was = await picture(element, edge)
    await choose()
    assert.notEqual(await picture(element, edge), was, what)
  }
  const label = (text) => page.locator('label, .segment').filter({ hasText: text }).first()
  await changes('the period', label('90 days'), () => label('90 days').click())
  await shoot('insights')

  await page.goto(`/apps/${app.id}?section=widget`)
  const sections = page.getByRole('navigation', { name: 'Sections' })
  const corner = page.locator('.corner').filter({ hasText: 'Top left' })
  await changes('the corner', corner, () => corner.click())
  const uploads = page.locator('.switch-track').first()
  const off = await picture(uploads)
  await page.getByText('Allow file uploads').click()
  assert.notEqual(await picture(uploads), off, 'the switch')
  await shoot('widget')
  await page.getByRole('button', { name: 'Discard' }).click()
  const sharing = sections.getByRole('link', { name: 'Sharing' })
  await changes('the section', sharing, () => sharing.click())
  const all = page.locator('.radio-dot').last()
  const without = await picture(all)
  await page.locator('.choice').last().click()
  assert.notEqual(await picture(all), without, 'the radio button')
})
