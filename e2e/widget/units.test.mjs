// The parts of the widget that need no browser, and rules for its sources.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

const folder = path.resolve(import.meta.dirname, '../../web/widget')
const require = createRequire(path.join(folder, 'package.json'))
const { buildSync } = require('esbuild')

// load bundles a source file for Node.js and returns its exports.
async function load(name) {
  const { outputFiles } = buildSync({
    entryPoints: [path.join(folder, 'src', name)], bundle: true, write: false, format: 'esm',
    loader: { '.css': 'text' }, define: { LOCALES: '"^$"', VERSION: '""' },
  })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}

test('text on any background has a contrast of 4.5 to 1 or more', async () => {
  const { ink } = await load('color.ts')
  // The relative luminance as WCAG 2 defines it.
  const luminance = (color) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const part = parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16) / 255
    return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  }, 0)
  const worst = { ratio: 21 }
  const measure = (r, g, b) => {
    const background = `#${[r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('')}`
    const text = ink(background) === '#000' ? '#000000' : '#ffffff'
    const [light, dark] = [luminance(background), luminance(text)].sort((a, b) => b - a)
    const ratio = (light + 0.05) / (dark + 0.05)
    if (ratio < worst.ratio) Object.assign(worst, { background, ratio })
  }
  const hues = [[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
  for (let i = 0; i < 256; i++) for (const [r, g, b] of hues) measure(i * r, i * g, i * b)
  for (let r = 0; r < 256; r += 5) for (let g = 0; g < 256; g += 5) for (let b = 0; b < 256; b += 5) measure(r, g, b)
  assert.ok(worst.ratio >= 4.5, `${worst.background} has ${worst.ratio}`)
  assert.deepEqual([ink('#ffffff'), ink('#FFCC00'), ink('#000000'), ink('#4F46E5')], ['#000', '#000', '#fff', '#fff'])
})

test('Markdown is what it is in the dashboard and on pages', async () => {
  const { markdown } = await load('markdown.ts')
  // A stand-in for elements.
  const h = (localName, attributes = {}, ...children) => ({ localName, attributes, children, append: (...more) => children.push(...more) })
  const names = { h4: 'h', blockquote: 'quote' }
  const shown = (part) => {
    if (typeof part === 'string') return part
    const { localName, attributes: { href = '' }, children } = part
    if (localName === 'br') return '/'
    if (localName === 'pre') return `<pre>${children[0].children.join('').trimEnd()}</pre>`
    const name = names[localName] ?? localName
    const about = localName === 'ol' ? ` ${children[0].attributes.value}` : href && ` ${href}`
    return `<${name}${about}>${children.map(shown).join('')}</${name}>`
  }
  const file = new URL('../../internal/portal/testdata/markdown.json', import.meta.url)
  for (const [source, want] of JSON.parse(readFileSync(file, 'utf8'))) {
    assert.equal(markdown(h, source).map(shown).join(''), want, JSON.stringify(source))
  }
})

test('delays grow up to five minutes and are random', async () => {
  const { backoff } = await load('sender.ts')
  assert.deepEqual([1, 2, 3, 8, 9, 50].map((tries) => backoff(tries, 0.5)), [2000, 4000, 8000, 256_000, 300_000, 300_000])
  assert.deepEqual([backoff(1, 0), backoff(1, 0.999999) < 3000], [1000, true])
  assert.notEqual(backoff(3), backoff(3))
})

// outbox returns an outbox with a sender and a fake clock. `reply` returns the failure with which the
// service answers, or undefined if it accepts the idea.
async function outbox(t, reply) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1e12 })
  const browser = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
  Object.defineProperty(globalThis, 'navigator', { value: { onLine: true }, configurable: true })
  t.after(() => (browser ? Object.defineProperty(globalThis, 'navigator', browser) : delete globalThis.navigator))
  const [{ createSender }, storage] = await Promise.all([load('sender.ts'), load('entries.ts')])
  let rounds = []
  const told = []
  const sender = createSender({
    ...storage, app: t.name, base: '', list: async (app) => structuredClone(await storage.list(app)),
    emit() {}, failed() {}, token: async () => undefined,
    tell: (id, { state }) => told.push(`${id} ${state}`),
    alone: (work) => (rounds.push([]), work()),
    async call(operation, { title }) {
      rounds.at(-1).push(title)
      const failure = reply(title)
      if (failure) throw failure
      return { request: { title } }
    },
  })
  t.after(() => sender.stop())
  const settled = () => new Promise(setImmediate) // enough, because the sender waits only for promises
  return {
    told,
    left: async () => (await storage.list(t.name)).map(({ id }) => id),
    add: (id, at) => storage.put({ id, app: t.name, fields: { title: id }, files: [], at, tries: 0, next: 0 }),
    // after moves the clock ahead and returns the calls to the service, as a list for each round.
    async after(ms, flush) {
      rounds = []
      if (flush) sender.flush(flush.eager)
      t.mock.timers.tick(ms)
      await settled()
      return rounds
    },
  }
}

for (const [name, failure] of Object.entries({
  'a server error': { kind: 'server', code: 'api.internal' }, 'an exception': new TypeError('oops'),
})) {
  test(`an idea that always causes ${name} does not block others`, async (t) => {
    let broken = true
    const box = await outbox(t, (title) => (title === 'b' && broken ? failure : undefined))
    for (const id of ['d', 'b', 'e', 'a', 'c']) await box.add(id, 1e12 + id.charCodeAt(0)) // not in the order of sending
    assert.deepEqual(await box.after(0, { eager: false }), [['a', 'b']], 'a failure ends the round')
    assert.deepEqual(await box.after(999), [])
    assert.deepEqual(await box.after(2001), [['c', 'd', 'e', 'b']], 'a failed idea comes last')
    await box.add('f', 1e12 + 10_000)
    assert.deepEqual(await box.after(0, { eager: false }), [['f']], 'a failed idea waits')
    await box.add('g', 1e12 + 11_000)
    assert.deepEqual(await box.after(0, { eager: true }), [['g', 'b']], 'a failed idea does not wait if the user sends another one')
    assert.deepEqual(await box.left(), ['b'])
    broken = false
    assert.deepEqual(await box.after(12_000), [['b']])
    assert.deepEqual(await box.left(), [])
    const sent = box.told.filter((what) => what.endsWith(' sent'))
    assert.deepEqual(sent, ['a sent', 'c sent', 'd sent', 'e sent', 'f sent', 'g sent', 'b sent'])
    assert.deepEqual(await box.after(600_000), [], 'nothing is sent twice')
  })
}

for (const [kind, state] of [['refused', 'refused'], ['key', 'waiting'], ['identity', 'waiting']]) {
  test(`an idea with a failure of kind "${kind}" does not block others`, async (t) => {
    const box = await outbox(t, (title) => (title === 'b' ? { kind, code: 'widget.no' } : undefined))
    for (const id of ['c', 'b', 'a']) await box.add(id, 1e12 + id.charCodeAt(0))
    const first = kind === 'identity' ? ['a', 'b', 'b', 'c'] : ['a', 'b', 'c'] // again with a new token
    assert.deepEqual(await box.after(0, { eager: false }), [first])
    assert.deepEqual(box.told, ['a sent', `b ${state}`, 'c sent'])
    await box.add('d', 1e12 + 1000)
    assert.deepEqual(await box.after(600_000, { eager: false }), [['d']], 'the idea is not sent again automatically')
    assert.deepEqual(await box.left(), ['b'])
    const eager = { refused: [], key: ['b'], identity: ['b', 'b'] }[kind] // refused ideas wait for the form
    assert.deepEqual(await box.after(0, { eager: true }), [eager])
  })
}

test('the sender waits as long as the service says', async (t) => {
  let busy = true
  const box = await outbox(t, (title) => (busy ? { kind: 'server', code: 'api.rate_limited', wait: { a: 20, b: 60 }[title] } : undefined))
  await box.add('a', 1e12)
  assert.deepEqual(await box.after(0, { eager: false }), [['a']])
  await box.add('b', 1e12 + 1)
  assert.deepEqual(await box.after(0, { eager: false }), [['b']], 'each idea has its own wait')
  assert.deepEqual(await box.after(0, { eager: true }), [[]], 'sending another idea does not shorten the wait')
  assert.deepEqual(await box.after(19_999), [])
  assert.deepEqual(await box.after(1), [['a']])
  busy = false
  assert.deepEqual(await box.after(39_999), [['a']])
  assert.deepEqual(await box.after(1), [['b']])
  assert.deepEqual(await box.left(), [])
})

test('the storage lists the ideas of an app, the least tried and oldest first', async () => {
  const { list, put, remove } = await load('entries.ts')
  const ids = async (app) => (await list(app)).map(({ id }) => id).join(' ')
  const entries = { old: [1, 2], late: [3, 0], failed: [1, 1], early: [2, 0] }
  for (const [id, [at, tries]] of Object.entries(entries)) {
    assert.equal(await put({ id, app: 'one', at, tries }), false, 'ideas in memory do not survive the page')
  }
  await put({ id: 'other', app: 'two', at: 0, tries: 0 })
  assert.deepEqual([await ids('one'), await ids('two')], ['early late failed old', 'other'])
  await put({ id: 'early', app: 'one', at: 2, tries: 3 })
  await remove('late')
  assert.equal(await ids('one'), 'failed old early')
})

test('keys and secrets begin with the time, and the rest is random', async (t) => {
  const { secret, uuid } = await load('storage.ts')
  for (const [now, time] of [[0, '000000000000'], [0x19ab12cd34e, '019ab12cd34e']]) {
    t.mock.timers.enable({ apis: ['Date'], now })
    assert.match(secret(), new RegExp(`^${time}[0-9a-f]{52}$`))
    assert.match(uuid(), new RegExp(`^${time.slice(0, 8)}-${time.slice(8)}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`))
    t.mock.timers.reset()
  }
  const many = Array.from({ length: 1000 }, () => secret().slice(12))
  assert.equal(new Set(many).size, 1000)
  for (let i = 0; i < 52; i++) assert.equal(new Set(many.map((digits) => digits[i])).size, 16, `digit ${i}`)
})

test('file types are detected from the content', async () => {
  const { typeOf } = await load('attachments.ts')
  const file = (bytes, type = '') => typeOf(new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], 'name', { type }))
  assert.equal(await file([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0], 'text/plain'), 'image/png')
  assert.equal(await file([0xff, 0xd8, 0xff, 0xe0]), 'image/jpeg')
  assert.equal(await file('GIF89a…'), 'image/gif')
  assert.equal(await file('RIFF\x01\x02\x03\x04WEBPVP8 '), 'image/webp')
  assert.equal(await file('RIFF\x01\x02\x03\x04WAVEfmt '), undefined)
  assert.equal(await file('%PDF-1.7'), 'application/pdf')
  assert.equal(await file('Grüße', 'text/plain'), 'text/plain')
  assert.equal(await file('<html>', 'text/html'), undefined)
  assert.equal(await file('<html>', 'image/png'), undefined)
  assert.equal(await file([77, 90, 0, 1], 'text/plain'), undefined)
  assert.equal(await file('', 'text/plain'), undefined)
})

test('tokens of the same person have the same subject', async () => {
  const { subject } = await load('sender.ts')
  const token = (claims) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
  assert.equal(subject(token({ sub: 'ü?>u1', exp: 1 })), subject(token({ sub: 'ü?>u1', exp: 2 })))
  assert.notEqual(subject(token({ sub: 'u1' })), subject(token({ sub: 'u2' })))
  assert.equal(subject(token({ email: 'ada@example.com' })), 'ada@example.com')
  assert.equal(subject('no token'), 'no token')
})

test('every catalog has the same texts with the same placeholders', () => {
  const locales = path.join(folder, 'src/locales')
  const catalogs = Object.fromEntries(readdirSync(locales).map(
    (file) => [path.parse(file).name, JSON.parse(readFileSync(path.join(locales, file), 'utf8'))]))
  assert.ok(Object.keys(catalogs).length >= 10)
  const placeholders = (text) => (text.match(/{\w+}/g) ?? []).sort()
  // The forms of a plural differ. The numbers zero, one and two of Arabic are part of the noun.
  const form = /^(\w+)_(zero|one|two|few|many|other)$/
  for (const [language, texts] of Object.entries(catalogs)) {
    assert.deepEqual(namesOf(texts), namesOf(catalogs.en), language)
    assert.equal(texts.lang, language)
    for (const [name, text] of Object.entries(texts)) {
      assert.ok(text.trim(), `${language}: ${name}`)
      const spelled = language === 'ar' && /_(zero|one|two)$/.test(name)
      const expected = spelled ? [] : placeholders(catalogs.en[name.replace(form, '$1_other')])
      assert.deepEqual(placeholders(text), expected, `${language}: ${name}`)
    }
    const plurals = new Set(Object.keys(texts).flatMap((name) => form.exec(name)?.[1] ?? []))
    assert.ok(plurals.size)
    for (const name of plurals) {
      const forms = Object.keys(texts).flatMap((key) => (form.exec(key)?.[1] === name ? [form.exec(key)[2]] : []))
      assert.deepEqual(forms.sort(), new Intl.PluralRules(language).resolvedOptions().pluralCategories.sort(), `${language}: ${name}`)
    }
  }

  function namesOf(texts) {
    return [...new Set(Object.keys(texts).map((name) => form.exec(name)?.[1] ?? name))]
  }
})

test('no source turns text into markup or code', () => {
  const sources = readdirSync(path.join(folder, 'src')).filter((file) => file.endsWith('.ts'))
  assert.ok(sources.length > 15)
  for (const file of sources) {
    const source = readFileSync(path.join(folder, 'src', file), 'utf8')
    assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\('on|DOMParser|document\.cookie/, file)
    assert.ok(source.split('\n').length < 400, `${file} is too long`)
  }
})

test('the types accept correct calls and refuse wrong ones', () => {
  const ts = require('typescript')
  const parsed = new Map()
  const compile = (lines) => {
    const name = path.join(folder, 'dist', 'sample.ts')
    const options = {
      strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'], types: [],
    }
    const host = ts.createCompilerHost(options)
    const { fileExists, readFile, getSourceFile } = host
    const source = `import Gatherkit, { type Events } from './widget.js'\n${lines}`
    host.fileExists = (file) => file === name || fileExists(file)
    host.readFile = (file) => (file === name ? source : readFile(file))
    host.getSourceFile = (file, ...rest) => {
      if (file === name) return ts.createSourceFile(file, source, ts.ScriptTarget.ES2022)
      if (!parsed.has(file)) parsed.set(file, getSourceFile(file, ...rest))
      return parsed.get(file)
    }
    const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([name], options, host))
    return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  }
  assert.deepEqual(compile(`
    Gatherkit('boot', { key: 'gk_1', theme: 'dark', identity: { getToken: async () => 'token' } })
    Gatherkit('on', 'submit', ({ id, request }) => {
      const title: string = request.title + id
      window.Gatherkit!('open', { prefill: { title } })
    })
    Gatherkit('identify'); Gatherkit('destroy'); Gatherkit('set', { strings: { send: 'Go' } }, { key: 'gk_1' })
    const kind: Events['error']['kind'] = 'offline'`), [])
  for (const wrong of [
    "Gatherkit('boot', {})", "Gatherkit('boot', { key: 'gk_1', theme: 'blue' })", "Gatherkit('on', 'sent', () => {})", "Gatherkit('fly')",
  ]) assert.notDeepEqual(compile(wrong), [], wrong)
})

test('dist is up to date and within its size limits', () => {
  const read = (root) => {
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    return Object.fromEntries(files.map((entry) => {
      const file = path.join(entry.parentPath, entry.name)
      return [path.relative(root, file), readFileSync(file, 'utf8')]
    }))
  }
  const built = mkdtempSync(path.join(tmpdir(), 'gatherkit-widget-'))
  try {
    const report = execFileSync('node', ['build.mjs', built], { cwd: folder, encoding: 'utf8' })
    assert.match(report, /^first: \d+ of 8900 bytes\nextras: \d+ of 6150 bytes\nmine: \d+ of 3850 bytes\nnews: \d+ of 2550 bytes\n$/)
    assert.deepEqual(read(path.join(folder, 'dist')), read(built), 'run npm run build in web/widget')
  } finally {
    rmSync(built, { recursive: true })
  }
})
