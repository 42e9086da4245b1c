// What is new: the dot on the launcher after a publication, and the list of entries.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { some } from '../browser.mjs'
import { call, check, document, gate, looks, named, onCall, policy, recorded, shop, soon, tag, visitor, widget } from './harness.mjs'

const locales = path.resolve(import.meta.dirname, '../../web/widget/src/locales')
const languages = readdirSync(locales).map((file) => JSON.parse(readFileSync(path.join(locales, file), 'utf8')))

// publish publishes an entry of the app's changelog.
async function publish(app, title, fields = {}) {
  const { entry } = await call('entries-create', { app_id: app.id, title, ...fields })
  return (await call('entries-publish', { id: entry.id })).entry
}

const button = (w) => w.part('.turn', { hasText: "What's new" })
const titles = (w) => w.part('.list h3').allTextContents()
const isFocused = (element) => element.matches(':focus')

async function openNews(w, name = "What's new") {
  await w.open()
  await w.part('.turn', { hasText: name }).click()
  await w.ideas.first().waitFor()
}

test('after a publication, the launcher has a dot until somebody reads what is new', async (t) => {
  const { app, relay, context, complaints, idle, enter } = await shop(t)
  const loaded = []
  context.on('request', (request) => loaded.push(new URL(request.url()).pathname))
  await publish(app, 'Dark mode', { body: 'It is here.' })
  let tab = await enter()
  await idle(tab)
  await named(tab, 'Ideas')
  let w = widget(tab)
  assert.equal(await w.mark.textContent(), '', 'nothing is new on the first visit')
  await tab.close()

  const { id, published_at } = await publish(app, 'Export', { body: 'As *CSV*.', labels: ['New', 'Beta'] })
  tab = await enter()
  await named(tab, "Ideas (What's new)")
  w = widget(tab)
  assert.equal(await w.mark.textContent(), '●')
  await w.open()
  await idle(tab)
  assert.ok(!loaded.includes('/widget/news.js'), 'the script loads when somebody wants to read')
  assert.equal(relay.count('widget-entries'), 0)
  await button(w).click()
  await w.ideas.nth(1).waitFor()
  assert.deepEqual(await titles(w), ['Export', 'Dark mode'])
  assert.deepEqual(await w.ideas.first().locator('.facts > b').allTextContents(), ['New', 'Beta'])
  const time = w.ideas.first().locator('time')
  assert.equal(await time.getAttribute('datetime'), published_at)
  const day = await tab.evaluate((at) => new Date(at).toLocaleDateString('en', { dateStyle: 'medium' }), published_at)
  assert.equal(await time.textContent(), day)
  assert.equal(await w.part('h2').textContent(), "What's new")
  assert.equal(await w.turn.textContent(), 'Share an idea')
  await soon('the heading has the focus', () => w.part('h2').evaluate(isFocused))
  await named(tab, 'Ideas')
  assert.equal(await w.mark.textContent(), '')
  assert.equal(await tab.evaluate((key) => JSON.parse(localStorage.getItem(`gatherkit:config:${key}`)).seen, app.key), id)

  await tab.reload()
  await w.open()
  await idle(tab)
  assert.equal(await w.mark.textContent(), '', 'it stays read')
  assert.equal(await button(w).textContent(), "What's new")
  assert.deepEqual(await context.cookies(), [])
  assert.deepEqual(complaints, [])
})

test('the first entry of a changelog is new to who has visited before', async (t) => {
  const { app, idle, enter } = await shop(t)
  let tab = await enter()
  await widget(tab).open()
  await idle(tab)
  assert.equal(await button(widget(tab)).isVisible(), false)
  await tab.close()
  const { id } = await publish(app, 'First')
  tab = await enter()
  await named(tab, "Ideas (What's new)")
  await tab.close()
  await call('entries-unpublish', { id })
  tab = await enter()
  await idle(tab)
  await named(tab, 'Ideas')
})

test('an idea that waits is more important than what is new', async (t) => {
  const { app, context, enter } = await shop(t)
  await (await enter()).close()
  await publish(app, 'Export')
  const tab = await enter()
  const w = widget(tab)
  await named(tab, "Ideas (What's new)")
  await context.setOffline(true)
  await w.open()
  await w.submit('From the train')
  await w.waiting.waitFor()
  await w.close.click()
  await named(tab, 'Ideas (Unsent ideas: 1)')
  await context.setOffline(false)
  await soon('the idea is sent', async () => (await recorded(tab, 'submit')).length === 1)
  await tab.clock.fastForward(5000)
  await named(tab, "Ideas (What's new)")
})

test('an entry names the ideas behind it, with their votes', async (t) => {
  const { app, enter } = await shop(t, { settings: { sharing: 'all' } })
  const { request } = await visitor(app, 'widget-submit-request', { title: '<b>Spreadsheets</b>', description: '' })
  await call('votes-add', { request_id: request.id, email: 'ada@example.com' })
  await publish(app, 'Export', { request_ids: [request.id] })
  await publish(app, 'Alone')
  const w = widget(await enter())
  await openNews(w)
  assert.deepEqual(await w.part('.list h4').allTextContents(), ['Ideas behind this'])
  assert.deepEqual(await w.part('.list li li').allTextContents(), ['<b>Spreadsheets</b> 2 votes'])
})

// What a body looks like, as the browser writes the elements. "%" is a link's opening tag up to its address.
const bodies = [
  ['One\ntwo\n\nthree', '<p>One<br>two</p><p>three</p>'],
  ['Windows\r\nlines', '<p>Windows<br>lines</p>'],
  ['- a\n- **b**\n\n- c\n  more', '<ul><li>a</li><li><strong>b</strong></li><li>c<br>more</li></ul>'],
  ['Steps:\n3. three\n4) four', '<p>Steps:</p><ol><li value="3">three</li><li value="4">four</li></ol>'],
  ['# Title\ntext\n> quote\n> on', '<h4>Title</h4><p>text</p><blockquote>quote<br>on</blockquote>'],
  ['***both*** *em* _em_ __strong__ ~~gone~~', '<p><strong><em>both</em></strong> <em>em</em> <em>em</em> <strong>strong</strong> <del>gone</del></p>'],
  ['snake_case_name 2 * 3 * 4 **open', '<p>snake_case_name 2 * 3 * 4 **open</p>'],
  ['これは**太字**です', '<p>これは<strong>太字</strong>です</p>'],
  ['\\*plain\\* `a *b* <i>`', '<p>*plain* <code>a *b* &lt;i&gt;</code></p>'],
  ['```js\n- <b>\n\n**x**\n```\nafter', '<pre><code>- &lt;b&gt;\n\n**x**\n</code></pre><p>after</p>'],
  ['```\nopen', '<pre><code>open</code></pre>'],
  ['[**the** docs](https://example.com/a_(b)?c=1&d "title").', '<p>%https://example.com/a_(b)?c=1&amp;d"><strong>the</strong> docs</a>.</p>'],
  ['See https://example.com/x_y_z, or (HTTP://EXAMPLE.COM).', '<p>See %https://example.com/x_y_z">https://example.com/x_y_z</a>, or (%HTTP://EXAMPLE.COM">HTTP://EXAMPLE.COM</a>).</p>'],
  ['„https://example.com/a“ 详见 https://example.com/例。谢谢「https://example.com/b」', '<p>„%https://example.com/a">https://example.com/a</a>“ 详见 %https://example.com/例">https://example.com/例</a>。谢谢「%https://example.com/b">https://example.com/b</a>」</p>'],
  ['[https://a.example](https://b.example)', '<p>%https://b.example">https://a.example</a></p>'],
  ['![a picture](https://example.com/x.png)', '<p>a picture</p>'],
]

// Texts that would do something if they became markup, addresses or handlers.
const hostile = [
  '<img src=x onerror="window.hacked=1">', '<script>window.hacked=1</script>', '"><svg onload=window.hacked=1>', '{{constructor}}${1}',
  '&lt;b&gt;&amp;', '</p></div></dialog><h1>x', '<a href="javascript:window.hacked=1">x</a>', '<!-- -->',
]
const addresses = [
  'javascript:window.hacked=1', 'JaVaScRiPt://x%0awindow.hacked=1', 'data:text/html,<script>1</script>', '//example.com', 'https:/\\example.com',
  'https:example.com', 'vbscript:x', 'file:///etc/passwd', '&#106;avascript:window.hacked=1', 'java\\script:window.hacked=1',
]

test('Markdown becomes elements, and nothing else does', async (t) => {
  const { app, relay, pages, complaints, enter } = await shop(t)
  pages['/'] = { html: document(tag(relay, app)), headers: { 'Content-Security-Policy': policy(relay) } }
  const corpus = [...hostile, ...addresses.map((address) => `[link](${address}) <${address}> ![image](${address})`)]
  const entries = [
    ...bodies.map(([body]) => ({ title: 'Text', body })),
    ...corpus.map((body) => ({ title: body.slice(0, 99), labels: [body.slice(0, 30)], body: `${body}\n\n- ${body}\n\n# ${body}\n\n**${body}**` })),
    // Bodies that are as long as possible, and whose marks are never closed.
    ...['*a ', '[', '`', '[a](', 'https://', '![', '\\', '> ', '- a\n', '_a**'].map((part) => ({ title: 'Long', body: part.repeat(20_000 / part.length) })),
  ]
  for (const { title, ...fields } of entries.toReversed()) await publish(app, title, fields)
  const tab = await enter()
  const w = widget(tab)
  await openNews(w)
  while ((await w.ideas.count()) < entries.length) {
    const shown = await w.ideas.count()
    await w.part('.list > .more').click()
    await w.ideas.nth(shown).waitFor()
  }
  const shown = await w.ideas.evaluateAll((rows) => rows.map((row) => ({
    title: row.querySelector('h3').textContent,
    labels: [...row.querySelectorAll('.facts b')].map((label) => label.textContent),
    html: row.querySelector('.text').innerHTML,
    text: row.querySelector('.text').textContent,
    names: [...new Set([...row.querySelectorAll('*')].map(({ localName }) => localName))],
    attributes: [...row.querySelectorAll('.text *')].flatMap((element) => element.getAttributeNames()),
    links: [...row.querySelectorAll('a')].map(({ protocol, rel, target }) => `${protocol} ${rel} ${target}`),
  })))
  const link = '<a href="'
  for (const [i, [body, html]] of bodies.entries()) {
    const simple = shown[i].html.replaceAll('" target="_blank" rel="noreferrer nofollow">', '">')
    assert.equal(simple, html.replaceAll('%', link), body)
  }
  const allowed = ['h3', 'h4', 'div', 'time', 'b', 'p', 'br', 'ul', 'ol', 'li', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'a']
  for (const [i, { title, labels, text, names, attributes, links }] of shown.entries()) {
    const entry = entries[i]
    assert.equal(title, entry.title)
    assert.deepEqual(labels, entry.labels ?? [])
    assert.deepEqual(names.filter((name) => !allowed.includes(name)), [], entry.title)
    assert.deepEqual(attributes.filter((name) => !['href', 'target', 'rel', 'value'].includes(name)), [], entry.title)
    assert.deepEqual(links.filter((one) => !/^https?: noreferrer nofollow _blank$/.test(one)), [], entry.title)
    if (hostile.includes(entry.title)) assert.equal(text, entry.title.repeat(4), 'the text stays as it was written')
  }
  const of = (address) => shown[bodies.length + hostile.length + addresses.indexOf(address)].links
  for (const address of addresses) assert.deepEqual(of(address), [], address)
  assert.equal(await tab.evaluate(() => window.hacked), undefined)
  assert.equal(await tab.evaluate(() => window.shifts), 0)
  assert.deepEqual(complaints, [])
})

test('older entries load on demand, and a failure can be repeated', async (t) => {
  const { app, relay, enter } = await shop(t)
  for (let i = 1; i <= 12; i++) await publish(app, `Entry ${i}`)
  await (await enter()).close()
  await publish(app, 'Entry 13')
  const tab = await enter()
  const w = widget(tab)
  relay.fault = onCall('widget-entries', () => 503)
  await w.open()
  await button(w).click()
  const failed = w.part('.list > p', { hasText: "Couldn't load. Try again." })
  await failed.waitFor()
  assert.ok(await failed.evaluate(isFocused))
  await named(tab, "Ideas (What's new)")
  relay.fault = undefined
  const more = w.part('.list > .more')
  await more.filter({ hasText: 'Try again' }).click()
  await w.ideas.nth(9).waitFor()
  await named(tab, 'Ideas')
  await more.filter({ hasText: 'Show older' }).click()
  await w.ideas.nth(12).waitFor()
  assert.equal(await more.isVisible(), false)
  await soon('the first older entry has the focus', () => w.part('.list h3').nth(10).evaluate(isFocused))
  assert.deepEqual(await titles(w), Array.from({ length: 13 }, (_, i) => `Entry ${13 - i}`))
})

test('if all entries are taken back meanwhile, the list says so', async (t) => {
  const { app, enter } = await shop(t)
  const { id } = await publish(app, 'Too early')
  const w = widget(await enter())
  await w.open()
  await call('entries-unpublish', { id })
  await button(w).click()
  await w.part('.list > p', { hasText: 'Nothing is published yet.' }).waitFor()
  assert.equal(await w.part('.list > .more').isVisible(), false)
})

test('without the network, the form stays and says why, and the next click tries again', async (t) => {
  const { app, relay, context, enter } = await shop(t)
  await publish(app, 'Export')
  const w = widget(await enter())
  await w.open()
  await w.title.fill('Half an idea')
  await context.setOffline(true)
  await button(w).click()
  await w.part('.alert', { hasText: 'You are offline' }).waitFor()
  await context.setOffline(false)
  await w.alert.waitFor({ state: 'hidden' })
  await context.route('**/widget/news.js*', (route) => route.abort())
  await button(w).click()
  await w.part('.alert', { hasText: 'We are unavailable right now' }).waitFor()
  await context.unroute('**/widget/news.js*')
  await button(w).click()
  await w.ideas.waitFor()
  await w.turn.click()
  assert.equal(await w.title.inputValue(), 'Half an idea')
  assert.equal(await w.alert.textContent(), '')
  await context.setOffline(true)
  await button(w).click()
  await w.part('.list > p', { hasText: "Couldn't load. Try again." }).waitFor()
  await context.setOffline(false)
  await w.part('.list > .more').click()
  await w.ideas.waitFor()
  assert.equal(relay.count('widget-entries'), 2)
})

test('a script that arrives late opens the list once, and never against the person', async (t) => {
  const { app, relay, idle, enter } = await shop(t)
  await publish(app, 'Export')
  // late clicks the button, and returns the function with which the script arrives.
  async function late() {
    const tab = await enter()
    const held = gate()
    await tab.route('**/widget/news.js*', async (route) => (await held.opened, route.continue()))
    const w = widget(tab)
    await w.open()
    await button(w).click()
    const arrive = async () => {
      const arrived = tab.waitForResponse('**/widget/news.js*')
      held.open()
      await (await arrived).finished()
    }
    return { tab, w, arrive }
  }

  const twice = await late()
  await button(twice.w).click()
  await twice.arrive()
  await twice.w.ideas.waitFor()
  await idle(twice.tab)
  assert.equal(await twice.w.ideas.count(), 1)
  assert.equal(relay.count('widget-entries'), 1)

  const closed = await late()
  await closed.w.close.click()
  await closed.arrive()
  await idle(closed.tab)
  await closed.w.open()
  assert.ok(await closed.w.title.isVisible())
  assert.equal(await closed.w.ideas.count(), 0)

  const { tab, w, arrive } = await late()
  const answered = gate()
  relay.fault = onCall('widget-submit-request', () => answered.opened)
  await w.submit('Dark mode')
  await soon('the idea is on its way', () => relay.count('widget-submit-request') === 1)
  await arrive()
  await tab.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
  assert.equal(await w.ideas.count(), 0)
  answered.open()
  await w.sent.waitFor()
  await button(w).click()
  await w.ideas.waitFor()
})

test('both lists and the form take turns', async (t) => {
  const { app, enter } = await shop(t)
  await publish(app, 'Export')
  const tab = await enter()
  const w = widget(tab)
  await w.open()
  await w.submit('Dark mode')
  await w.sent.waitFor()
  const heading = w.part('h2')
  const turns = w.turn
  await turns.nth(1).waitFor()
  const names = async () => [await heading.textContent(), ...await turns.allTextContents()]
  assert.deepEqual(await names(), ['Share an idea', 'Your ideas', "What's new"])
  await turns.nth(1).click()
  await w.ideas.waitFor()
  assert.deepEqual([...await names(), ...await titles(w)], ["What's new", 'Your ideas', 'Share an idea', 'Export'])
  await turns.nth(0).click()
  await w.ideas.waitFor()
  assert.deepEqual([...await names(), ...await titles(w)], ['Your ideas', 'Share an idea', "What's new", 'Dark mode'])
  await tab.evaluate(() => Gatherkit('identify', { external_id: 'bob' }))
  await w.title.waitFor()
  assert.deepEqual(await names(), ['Share an idea', "What's new"])
  await turns.click()
  await w.ideas.waitFor()
  await turns.click()
  assert.deepEqual(await names(), ['Share an idea', "What's new"])
  assert.ok(await w.title.evaluate(isFocused))
})

test('what is new can be read with the keyboard only', async (t) => {
  const { app, enter } = await shop(t)
  await publish(app, 'Export', { body: 'See [the docs](https://example.com).' })
  const tab = await enter()
  const w = widget(tab)
  const { keyboard } = tab
  await w.launcher.focus()
  await keyboard.press('Enter')
  await w.dialog.waitFor()
  await soon('the title has the focus', () => w.title.evaluate(isFocused))
  await keyboard.press('Shift+Tab')
  assert.ok(await button(w).evaluate(isFocused))
  await keyboard.press('Enter')
  await soon('the heading has the focus', async () => (await w.ideas.count()) === 1 && w.part('h2').evaluate(isFocused))
  for (const part of ['.bar .icon', '.turn:not([hidden])', '.list a']) {
    await keyboard.press('Tab')
    assert.ok(await w.part(part).evaluate(isFocused), part)
  }
  await keyboard.press('Escape')
  await w.dialog.waitFor({ state: 'hidden' })
  assert.ok(await w.launcher.evaluate(isFocused))
  await keyboard.press('Enter')
  await soon('the panel shows the form again', () => w.title.evaluate(isFocused))
  assert.equal(await w.part('h2').textContent(), 'Share an idea')
  assert.equal(await button(w).count(), 1)
})

for (const texts of some(languages, 2)) {
  test(`what is new in the language ${texts.lang}`, async (t) => {
    const { app, relay, enter } = await shop(t, {
      settings: { sharing: 'all' }, options: { viewport: { width: 320, height: 640 } }, attributes: `data-locale="${texts.lang}"`,
    })
    await (await enter()).close()
    const { request } = await visitor(app, 'widget-submit-request', { title: 'Spreadsheets', description: '' })
    for (let i = 0; i < 10; i++) await publish(app, `Entry ${i}`)
    const { published_at } = await publish(app, 'Export', { request_ids: [request.id] })
    const tab = await enter()
    const w = widget(tab)
    await named(tab, `Ideas (${texts.news})`)
    relay.fault = onCall('widget-entries', () => 503)
    await w.open()
    await w.part('.turn', { hasText: texts.news }).click()
    await w.part('.list > p', { hasText: texts.mine_failed }).waitFor()
    relay.fault = undefined
    await w.part('.list > .more', { hasText: texts.mine_again }).click()
    await w.ideas.nth(9).waitFor()
    assert.equal(await w.part('h2').textContent(), texts.news)
    assert.equal(await w.turn.textContent(), texts.heading)
    assert.equal(await w.part('.list > .more').textContent(), texts.news_more)
    assert.equal(await w.part('.list h4').textContent(), texts.news_behind)
    const vote = (texts.mine_votes_one ?? texts.mine_votes_other).replace('{count}', (1).toLocaleString(texts.lang))
    assert.equal(await w.part('.list li li small').textContent(), vote)
    const day = await tab.evaluate(([at, lang]) => new Date(at).toLocaleDateString(lang, { dateStyle: 'medium' }), [published_at, texts.lang])
    assert.equal(await w.part('time').first().textContent(), day)
    assert.equal(await w.dialog.evaluate((dialog) => getComputedStyle(dialog).direction), texts.dir)
    const sides = await w.dialog.evaluate((dialog) => [...dialog.querySelectorAll('h3[dir=auto]')].map((h3) => getComputedStyle(h3).textAlign))
    assert.deepEqual([...new Set(sides)], [texts.dir === 'rtl' ? 'right' : 'left'], 'a title is on the other side')
    await check(tab, `news-${texts.lang}`)
  })
}

// In every state, axe finds nothing, and the page does not scroll sideways.
for (const [look, options, attributes] of looks) {
  test(`every state of what is new: ${look}`, async (t) => {
    const { app, relay, enter } = await shop(t, { settings: { sharing: 'all' }, options, attributes })
    const before = await enter()
    const see = (tab, state) => check(tab, `news-${look}-${state}`)
    await widget(before).open()
    await widget(before).submit('Dark mode for the dashboard')
    await widget(before).sent.waitFor()
    await before.close()
    const [{ id }] = (await call('requests-list', { app_id: app.id })).requests
    await publish(app, 'ماذا جديد', { body: 'نص **قصير** مع https://example.com رابط.', labels: ['جديد'] })
    await publish(app, 'Dark mode, for the dashboard and for everything that it shows', {
      labels: ['New', 'Dashboard', 'A label of several words'],
      body: '## In short\nIt follows *your system*.\n\n- Switch it in **Settings**\n- Or press `d`\n\n1. Open\n2. Close\n\n> Finally!\n\n' +
        '```\ntheme = dark\n```\n\nRead [the docs](https://example.com/a-rather-long-address), or https://example.com/a-rather-long-address-of-a-page',
      request_ids: [id],
    })
    const tab = await enter()
    const w = widget(tab)
    await soon('the launcher has a dot', async () => (await w.mark.textContent()) === '●')
    await see(tab, '1-launcher')
    await w.open()
    await w.turn.nth(1).waitFor()
    await see(tab, '2-form')
    relay.fault = onCall('widget-entries', () => 503)
    await w.turn.nth(1).click()
    await w.part('.list > .more').waitFor()
    await see(tab, '3-failed')
    relay.fault = undefined
    await w.part('.list > .more').click()
    await w.ideas.nth(1).waitFor()
    await see(tab, '4-list')
  })
}
