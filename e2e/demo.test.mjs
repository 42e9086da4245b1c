// Tests of the demo page. URL is the address of the service. SHARED is the link to the page of a demo
// that other machines can reach. SCREENSHOTS is an optional folder for
// screenshots.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { faults, launch, linger, newContext, quietly, some } from './browser.mjs'

const { URL: service, SHARED: shared, SCREENSHOTS: screenshots } = process.env
let browser

before(async () => {
  browser = await launch()
})
after(() => browser.close())

// open opens the page. complaints collects errors, which must stay empty.
async function open(t, options) {
  const context = await newContext(t, browser, { reducedMotion: 'reduce', ...options })
  const quiet = quietly(context)
  const page = await context.newPage()
  const complaints = []
  page.on('console', (message) => complaints.push(`console: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`)
  })
  await page.goto(service + '/demo')
  await page.locator('#arrived li').first().waitFor()
  return { page, complaints, quiet }
}

for (const colorScheme of some(['light', 'dark'], 1)) {
  for (const width of [1280, 320]) {
    test(`${colorScheme} at ${width} px`, async (t) => {
      const { page, complaints } = await open(t, { colorScheme, viewport: { width, height: 800 } })
      await page.getByRole('button', { name: 'Feedback' }).waitFor()
      if (screenshots) await page.screenshot({ path: path.join(screenshots, `demo-${colorScheme}-${width}.png`), fullPage: true })
      const password = page.locator('.hint b', { hasText: /^[A-Z2-7]{26}$/ })
      await password.evaluate((shown) => { shown.textContent = 'W'.repeat(26) }) // it is random, and must fit whatever it is
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      assert.equal(sideways, 0, 'the page scrolls sideways')
      assert.deepEqual(await faults(page, { dark: colorScheme === 'dark' }), [])
      assert.deepEqual(complaints, [])
    })
  }
}

test('an idea with a file arrives', async (t) => {
  const { page, complaints } = await open(t)
  await page.getByRole('button', { name: 'Share an idea' }).click()
  await page.getByLabel('Your idea').fill('A map of all shops')
  await page.locator('input[type=file]').setInputFiles({ name: 'map.txt', mimeType: 'text/plain', buffer: Buffer.from('shops here') })
  await page.getByText('map.txt').first().waitFor()
  await linger(page)
  await page.getByRole('button', { name: 'Send idea' }).click()
  await page.getByRole('heading', { name: 'Thank you!' }).waitFor()
  const arrived = page.locator('#arrived li').first()
  await arrived.getByText('A map of all shops').waitFor()
  const download = page.waitForEvent('download')
  await arrived.getByRole('link', { name: /map\.txt/ }).evaluate((link) => link.click()) // the panel covers the link
  assert.equal((await download).suggestedFilename(), 'map.txt')
  assert.deepEqual(complaints, [])
})

test('settings change the app', async (t) => {
  const { page, complaints, quiet } = await open(t)
  await page.getByLabel('Button text').fill('Wishes')
  await page.getByLabel('Position').selectOption('Top left')
  const button = page.getByRole('button', { name: 'Wishes' })
  await button.waitFor()
  const box = await button.boundingBox()
  assert.ok(box.x < 100 && box.y < 100, `the button is at ${box.x}, ${box.y}`)
  await page.getByLabel('E-mail field').selectOption('Required')
  await page.getByLabel('Logged in as Ada, verified').check()
  await page.getByLabel('Language').selectOption('Deutsch')
  await quiet(page)
  await button.click()
  await page.getByRole('textbox', { name: 'Ihre Idee' }).fill('Rechnungen auf Deutsch')
  await linger(page)
  await page.locator('dialog .form .primary').click()
  await page.locator('#arrived').getByText('by Ada Lovelace, verified').first().waitFor()
  // The service has stored the changes, so they are still there after a reload.
  await page.reload()
  await page.getByRole('button', { name: 'Wishes' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('a link opens the dashboard', async (t) => {
  const { page } = await open(t)
  await page.getByRole('link', { name: 'Open the dashboard' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Inbox' }).waitFor()
  await page.getByRole('button', { name: /Account: Ada/ }).waitFor()
})

test('the start page lets newcomers in without typing', async (t) => {
  const context = await newContext(t, browser, { reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(service)
  await page.getByText('This is a demo, so the login is filled in.').waitFor()
  assert.deepEqual(await faults(page), [])
  if (screenshots) await page.screenshot({ path: path.join(screenshots, 'demo-login.png') })
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: /Account: Ada/ }).waitFor()
})

test('a demo that other machines can reach asks for the password, which its link has', async (t) => {
  const context = await newContext(t, browser, { reducedMotion: 'reduce' })
  const page = await context.newPage()
  const { origin } = new URL(shared)
  await page.goto(origin)
  await page.getByLabel('E-mail').waitFor()
  assert.equal(await page.getByLabel('E-mail').inputValue() + await page.getByLabel('Password').inputValue(), '')
  await page.goto(origin + '/demo')
  await page.getByText('open the link that the demo printed').waitFor()
  if (screenshots) await page.screenshot({ path: path.join(screenshots, 'demo-shared.png') })
  await page.goto(shared) // which changes only the fragment
  await page.locator('#arrived li').first().waitFor()
  await page.getByRole('link', { name: 'Open the dashboard' }).click()
  await page.getByRole('button', { name: /Account: Ada/ }).waitFor()
})
