// Comments: Markdown, and colleagues who are mentioned in them.
import assert from 'node:assert/strict'
import path from 'node:path'
import { before, test } from 'node:test'
import { inProof } from '../browser.mjs'
import { Caller, logIn, look, openBrowser, screenshots, submit, until } from './harness.mjs'

const owner = await Caller.logIn()
let app, ada, grace

before(async () => {
  app = await owner.addApp('Shop')
  ada = await owner.addUser('member', 'Ada Lovelace')
  grace = await owner.addUser('viewer', 'Grace Hopper')
  await owner.addUser('member', 'Adam')
})

const id = async (title) => (await submit(app, { title })).id
const comment = (request_id, body) => owner.call('comments-create', { request_id, body })
const details = (page) => page.getByRole('complementary', { name: 'Request details' })
const shoot = async (page, name, media = {}) => {
  if (!screenshots) return
  await page.emulateMedia({ reducedMotion: 'reduce', ...media })
  await page.screenshot({ path: path.join(screenshots, `${name}.png`) })
}

const everything = `# Findings
**Bold**, *italic*, ~~gone~~, \`code\` and [a link](https://example.com/a_b) or https://example.com/bare.
A second line

- one
- two
  1. deeper

> quoted

\`\`\`
<b>code</b>
  indented
\`\`\`
![a picture](https://example.com/p.png) and ada@example.com`

test('comments are shown as Markdown', async (t) => {
  const { context, complaints, quiet } = await openBrowser(t, { viewport: { width: 1440, height: 900 } })
  const request = await id('Markdown')
  await comment(request, everything + `\n\n@[Old name](user:${ada.id}), @[Gone](user:0193e0a0-0000-7000-8000-000000000000): ${'verylong'.repeat(40)}`)
  const page = await logIn(context, `/?request=${request}`)
  const text = details(page).locator('.comment .text')
  await text.getByText('@Ada Lovelace').waitFor()
  await text.getByText('@Gone').waitFor()
  for (const [role, name] of [['heading', 'Findings'], ['strong', 'Bold'], ['emphasis', 'italic'], ['deletion', 'gone'], ['blockquote', 'quoted']]) {
    assert.equal(await text.getByRole(role).filter({ hasText: name }).count(), 1, name)
  }
  const names = await text.getByRole('link').evaluateAll((all) => all.map((a) => [a.textContent, a.href, a.target, a.rel]))
  const hint = ' (opens in a new tab)'
  assert.deepEqual(names, [
    ['a link' + hint, 'https://example.com/a_b'], ['https://example.com/bare' + hint, 'https://example.com/bare'],
    ['a picture' + hint, 'https://example.com/p.png'], ['ada@example.com' + hint, 'mailto:ada@example.com'],
  ].map((one) => [...one, '_blank', 'noreferrer']))
  assert.equal(await text.locator('pre').innerText(), '<b>code</b>\n  indented')
  assert.deepEqual(await text.locator('ul > li').evaluateAll((all) => all.map((li) => li.querySelector('p').innerText)), ['one', 'two'])
  assert.equal(await text.locator('ul > li > ol > li').innerText(), 'deeper')
  assert.equal(await text.locator('p > br').count(), 1)
  await quiet(page)
  for (const width of [1440, 390, 320]) {
    await page.setViewportSize({ width, height: 900 })
    await text.locator('pre').scrollIntoViewIfNeeded()
    await look(page, `markdown-${width}`)
    const wide = await text.evaluate((element) => element.scrollWidth - element.clientWidth)
    assert.ok(wide <= 0, `${width}: the text is ${wide} pixels too wide`)
  }
  await shoot(page, 'markdown-forced', { forcedColors: 'active' })
  assert.deepEqual(complaints, [])
})

const payloads = [
  '<script>window.hit=1</script>', '<img src=x onerror="window.hit=1">', '"><svg onload=window.hit=1>', '<a href="javascript:window.hit=1">x</a>',
  '[x](javascript:window.hit=1)', '[x](JAVASCRIPT:window.hit=1)', '[x](java\tscript:window.hit=1)', '[x](&#106;avascript:window.hit=1)',
  '[x](data:text/html,<script>window.hit=1</script>)', '[x](vbscript:x)', '<javascript:window.hit=1>', '![x](javascript:window.hit=1)',
  '![x"onerror="window.hit=1](https://a.b/"onerror="window.hit=1)', '[x](https://a.b "title\\" onmouseover=window.hit=1")',
  '[x](https://a.b/\'onmouseover=\'window.hit=1)', '[<img src=x onerror=window.hit=1>](https://a.b)', '`<img src=x onerror=window.hit=1>`',
  '```"><img src=x onerror=window.hit=1>\n<script>window.hit=1</script>\n```', '# <img src=x onerror=window.hit=1>', '- <svg onload=window.hit=1>',
  '> <iframe srcdoc="<script>parent.hit=1</script>">', '**<b onmouseover=window.hit=1>x</b>**', '<style>*{display:none}</style>',
  '<form action=javascript:window.hit=1><button>', '<base href=//evil.example>', '<https://a.b/"onclick="window.hit=1>', 'https://a.b/"onclick="window.hit=1',
  '@[<img src=x onerror=window.hit=1>](user:0193e0a0-0000-7000-8000-000000000000)', '@[x](user:javascript:window.hit=1)', '[x]: javascript:window.hit=1\n[x]',
  '{{constructor.constructor("window.hit=1")()}}', '<math><mtext><style><img src=x onerror=window.hit=1>', '[x](https://a.b){onclick=window.hit=1}',
]
const allowed = {
  P: [], H4: [], BR: [], HR: [], UL: [], OL: ['start'], LI: [], BLOCKQUOTE: [], PRE: [], CODE: [], STRONG: [], EM: [], DEL: [],
  A: ['href', 'target', 'rel'], SPAN: ['class', 'data-me'],
}

test('payloads are shown as text', inProof, async (t) => {
  const { context, complaints, quiet } = await openBrowser(t)
  const request = await id('Payloads')
  for (const payload of payloads) await comment(request, payload)
  const page = await logIn(context, `/?request=${request}`)
  await details(page).locator('.comment').nth(payloads.length - 1).waitFor()
  await quiet(page)
  const found = await details(page).locator('.comment .text *').evaluateAll((all) => all.map((element) => [
    element.tagName, [...element.attributes].map(({ name }) => name), element.href, element.className,
  ]))
  assert.ok(found.length > payloads.length)
  for (const [name, attributes, href, className] of found) {
    assert.ok(allowed[name], `there is a ${name}`)
    assert.deepEqual(attributes.filter((one) => !allowed[name].includes(one)), [], name)
    if (name === 'A') assert.match(href, /^(https?:\/\/|mailto:)/)
    if (name === 'SPAN') assert.match(className, /^(visually-hidden|mention)$/)
  }
  const texts = await details(page).locator('.comment .text').evaluateAll((all) => all.map((element) => element.textContent))
  for (const [n, payload] of payloads.slice(0, 8).entries()) assert.equal(texts[n], payload.replace('\t', '    '))
  await details(page).getByRole('link').evaluateAll((all) => all.forEach((link) => link.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }))))
  assert.equal(await page.evaluate(() => window.hit), undefined)
  assert.deepEqual(complaints, [])
})

test('the field for a comment stays where it is when the comments arrive', async (t) => {
  const { context, quiet } = await openBrowser(t)
  const request = await id('Many comments')
  for (let n = 0; n < 60; n++) await comment(request, `Comment ${n}`)
  let arrive
  const asked = new Promise((resolve) => { arrive = resolve })
  await context.route('**/api/comments-list', async (route) => {
    await asked
    await route.continue()
  })
  const page = await logIn(context, `/?request=${request}`)
  const field = details(page).getByRole('textbox', { name: 'Comment', exact: true })
  const scrolled = () => field.evaluate((area) => area.closest('.request-scroll').scrollTop)
  await field.focus()
  await page.keyboard.type('Look')
  const top = async () => (await field.boundingBox()).y
  const before = await top()
  assert.equal(await scrolled(), 0)
  arrive()
  await details(page).getByText('Comment 49', { exact: true }).waitFor()
  await quiet(page)
  assert.notEqual(await scrolled(), 0)
  assert.ok(Math.abs(await top() - before) < 1, `${before} → ${await top()}`) // scrolling is in whole pixels
  // A field that was scrolled out of view does not come back.
  await field.evaluate((area) => area.closest('.request-scroll').scrollTo(0, 0))
  await quiet(page)
  await details(page).getByRole('button', { name: 'Show newer comments' }).evaluate((button) => button.click())
  await details(page).getByText('Comment 59', { exact: true }).waitFor()
  await quiet(page)
  assert.equal(await scrolled(), 0)
})

test('a colleague is mentioned with the keyboard, sees it and opens it', async (t) => {
  const { context, complaints, quiet } = await openBrowser(t)
  const request = await id('Mentioned')
  for (let n = 0; n < 60; n++) await comment(request, `Comment ${n}`)
  const page = await logIn(context, `/?request=${request}`)
  const field = details(page).getByRole('textbox', { name: 'Comment', exact: true })
  const offered = page.getByRole('listbox', { name: 'People to mention' })
  const active = () => field.evaluate((area) => document.getElementById(area.getAttribute('aria-activedescendant') ?? '')?.textContent)
  await field.focus()
  await page.keyboard.type('Look, @ad')
  await offered.waitFor()
  assert.deepEqual(await offered.getByRole('option').allInnerTexts().then((all) => all.map((one) => one.split('\n')[1])), ['Ada Lovelace', 'Adam'])
  await details(page).getByText('2 people to mention').waitFor()
  assert.match(await active(), /Ada Lovelace/)
  await look(page, 'mention-list')
  // The list stays, and stays beside the text, when the request scrolls.
  const apart = async () => (await offered.boundingBox()).y - (await field.boundingBox()).y
  const [before, top] = [await apart(), (await field.boundingBox()).y]
  await field.evaluate((area) => area.closest('.request-scroll').scrollBy(0, -60))
  await quiet(page)
  assert.deepEqual([await apart(), (await field.boundingBox()).y], [before, top + 60])
  await page.keyboard.press('ArrowDown')
  assert.match(await active(), /Adam/)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  assert.equal(await field.inputValue(), 'Look, @Ada Lovelace ')
  await offered.waitFor({ state: 'detached' })
  await page.keyboard.type('and @gra')
  await offered.waitFor()
  await page.keyboard.press('Escape')
  await offered.waitFor({ state: 'detached' })
  assert.equal(await field.inputValue(), 'Look, @Ada Lovelace and @gra')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('@Grace H')
  await offered.getByRole('option', { name: /Grace Hopper/ }).click()
  assert.equal(await field.inputValue(), 'Look, @Ada Lovelace and @Grace Hopper ')
  await page.keyboard.type('**now**')
  await page.keyboard.press('Control+Enter')
  await until(async () => (await field.inputValue()) === '')
  const { comments } = await owner.call('comments-list', { request_id: request, limit: 200 })
  assert.equal(comments.at(-1).body, `Look, @[Ada Lovelace](user:${ada.id}) and @[Grace Hopper](user:${grace.id}) **now**`)
  await comment(request, 'Later')

  const theirs = await openBrowser(t)
  const other = await logIn(theirs.context, '/', 'grace.hopper@example.com')
  const nav = other.getByRole('navigation', { name: 'Pages' })
  await nav.getByRole('link', { name: 'Mentions 1 unread' }).waitFor()
  await other.keyboard.press('g')
  await other.keyboard.press('m')
  const lines = other.getByRole('list', { name: 'Mentions' }).getByRole('link')
  await lines.first().waitFor()
  assert.equal(await lines.count(), 1)
  await theirs.quiet(other)
  for (const width of [1280, 1024, 390, 320]) {
    await other.setViewportSize({ width, height: 800 })
    await look(other, `mentions-${width}`)
  }
  await shoot(other, 'mentions-forced', { forcedColors: 'active' })
  await other.setViewportSize({ width: 1280, height: 800 })
  await other.emulateMedia({ forcedColors: null, reducedMotion: 'reduce' })
  const line = lines.filter({ hasText: 'Unread: ' })
  assert.match(await line.innerText(), /on Mentioned\s+Look, @Ada Lovelace and @Grace Hopper \*\*now\*\*/)
  await line.click()
  const named = details(other).locator('.comment[data-named]')
  await named.getByText('Grace Hopper').waitFor()
  await until(() => named.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect()
    return document.activeElement === element && top > 0 && bottom < innerHeight
  }))
  assert.equal(await named.count(), 1)
  assert.equal(await named.locator('.mention[data-me]').innerText(), '@Grace Hopper')
  await nav.getByRole('link', { name: 'Mentions', exact: true }).waitFor()
  await theirs.quiet(other)
  await look(other, 'mention-opened')
  await shoot(other, 'mention-opened-forced', { forcedColors: 'active' })
  const { mentions } = await (await Caller.logIn('ada.lovelace@example.com')).call('mentions-list')
  assert.deepEqual([mentions[0].comment_id, mentions[0].read], [comments.at(-1).id, false])
  await quiet(page)
  assert.deepEqual([...complaints, ...theirs.complaints], [])
})

test('editing a comment shows names, and saving it keeps its mentions', async (t) => {
  const { context, complaints } = await openBrowser(t)
  const request = await id('Edited')
  const body = `Ask @[Somebody else](user:${ada.id}) and @[Gone](user:0193e0a0-0000-7000-8000-000000000000)`
  await comment(request, body)
  const page = await logIn(context, `/?request=${request}`)
  await details(page).getByText('@Ada Lovelace').waitFor()
  await details(page).getByRole('button', { name: 'Edit your comment' }).click()
  const field = details(page).getByRole('textbox', { name: 'Your comment' })
  assert.equal(await field.inputValue(), 'Ask @Ada Lovelace and @[Gone](user:0193e0a0-0000-7000-8000-000000000000)')
  await field.press('Escape')
  await field.waitFor({ state: 'detached' })
  await details(page).getByRole('button', { name: 'Edit your comment' }).click()
  await field.press('Control+End')
  await page.keyboard.type('!')
  await field.press('Control+Enter')
  await field.waitFor({ state: 'detached' })
  const { comments } = await owner.call('comments-list', { request_id: request })
  assert.equal(comments[0].body, body.replace('Somebody else', 'Ada Lovelace') + '!')
  assert.deepEqual(complaints, [])
})

test('all mentions are marked as read, except those that were not listed', inProof, async (t) => {
  const { context, complaints } = await openBrowser(t)
  await context.route('**/api/events-list', (route) => route.abort()) // it would list the fourth at once
  const request = await id('Many')
  for (const n of [1, 2, 3]) await comment(request, `${n} @[A](user:${ada.id})`)
  const page = await logIn(context, '/mentions', 'ada.lovelace@example.com')
  const lines = page.getByRole('list', { name: 'Mentions' }).getByRole('link')
  await lines.getByText('3 @A').waitFor()
  await comment(request, `4 @[A](user:${ada.id})`)
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Mentions 1 unread' }).waitFor()
  const unread = () => lines.filter({ hasText: 'Unread: ' }).allInnerTexts()
  await until(async () => (await unread()).length === 1 && /4 @A/.test((await unread())[0]))
  const { comments } = await owner.call('comments-list', { request_id: request })
  await owner.call('comments-delete', { request_id: request, id: comments[3].id })
  await lines.filter({ hasText: '4 @A' }).click()
  await details(page).getByRole('heading', { name: 'Many' }).waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Mentions', exact: true }).waitFor()
  assert.deepEqual(complaints, [])
})

test('new mentions are looked for only while the tab is visible', async (t) => {
  const { context, quiet } = await openBrowser(t)
  await context.clock.install()
  const page = await logIn(context, '/team', 'grace.hopper@example.com')
  await quiet(page)
  let asked = 0
  page.on('request', (request) => { if (request.url().endsWith('/api/mentions-list')) asked++ })
  await page.clock.fastForward(61_000)
  await until(() => asked === 1)
  await quiet(page)
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  })
  await page.clock.fastForward(300_000)
  await page.evaluate(() => {
    delete document.visibilityState
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  })
  await until(() => asked > 1)
  assert.equal(asked, 2)
})

test('a public reply begins with a template, which the team has saved', async (t) => {
  const { context, complaints, quiet } = await openBrowser(t, { viewport: { width: 1280, height: 900 } })
  const request = await id('Templates')
  const page = await logIn(context, `/?request=${request}`)
  const panel = details(page)
  const field = panel.getByRole('textbox', { name: 'Comment', exact: true })
  await field.waitFor()
  assert.equal(await panel.getByRole('button', { name: 'Templates' }).count(), 0, 'internal comments have templates')
  await page.keyboard.press('r')
  await page.keyboard.type('Hello.')
  const menu = async (name) => {
    await panel.getByRole('button', { name: 'Templates' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  const dialog = (name) => page.getByRole('dialog', { name })
  const save = async (from, name, text) => {
    await dialog(from).getByLabel('Name').fill(name)
    await dialog(from).getByLabel('Text').fill(text)
    await dialog(from).getByRole('button', { name: 'Save' }).click()
    await dialog('Reply templates').waitFor()
  }
  await menu('New template…')
  await dialog('New template').getByRole('button', { name: 'Save' }).click()
  assert.equal(await dialog('New template').getByText('This field is required.').count(), 2)
  await look(page, 'template-new')
  await save('New template', 'Planned', 'We **plan** this.')
  await dialog('Reply templates').getByRole('button', { name: 'New template' }).click()
  await save('New template', 'Declined', 'Not now.')
  await dialog('Reply templates').getByRole('button', { name: 'Edit Declined' }).click()
  await save('Edit template', 'Another one', 'Not this year.')
  await look(page, 'templates')
  await page.keyboard.press('Escape')
  await dialog('Reply templates').waitFor({ state: 'detached' })
  await panel.waitFor() // Escape has closed only the dialog
  await panel.getByRole('button', { name: 'Templates' }).click()
  assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), ['Another one', 'Planned', 'Edit templates…'])
  await look(page, 'template-menu')
  await page.getByRole('menuitem', { name: 'Planned' }).click()
  assert.equal(await field.inputValue(), 'Hello.\n\nWe **plan** this.')
  await page.waitForFunction(() => document.activeElement.tagName === 'TEXTAREA')
  await page.keyboard.press('Control+Enter')
  await panel.locator('.comment[data-public]').getByText('plan').waitFor()

  await page.keyboard.press('Escape')
  await page.getByRole('option', { name: /Templates/ }).click()
  await field.waitFor()
  await panel.getByRole('radio', { name: 'Public' }).focus()
  await page.keyboard.press('Space')
  await menu('Edit templates…')
  await dialog('Reply templates').getByRole('button', { name: 'Delete Planned' }).click()
  await dialog('Reply templates').getByRole('button', { name: 'Edit Planned' }).waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Undo' }).click()
  await until(async () => (await owner.call('templates-list')).templates.some(({ name }) => name === 'Planned'))
  await quiet(page)
  assert.deepEqual((await owner.call('comments-list', { request_id: request })).comments.map(({ body }) => body), ['Hello.\n\nWe **plan** this.'])
  assert.deepEqual(complaints, [])
})
