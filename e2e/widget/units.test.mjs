// The parts of the widget that need no browser, and what holds of its sources.
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

// load bundles a source for node, with all that it exports.
async function load(name) {
  const { outputFiles } = buildSync({ entryPoints: [path.join(folder, 'src', name)], bundle: true, write: false, format: 'esm', loader: { '.css': 'text' }, define: { LOCALES: '[]', VERSION: '""' } })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}

test('text on any ground reaches 4.5 to 1', async () => {
  const { ink, luminance } = await load('color.ts')
  const worst = { ratio: 21 }
  const look = (r, g, b) => {
    const ground = `#${[r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('')}`
    const [light, dark] = [luminance(ground), luminance(ink(ground) === '#000' ? '#000000' : '#ffffff')].sort((a, b) => b - a)
    const ratio = (light + 0.05) / (dark + 0.05)
    if (ratio < worst.ratio) Object.assign(worst, { ground, ratio })
  }
  for (let i = 0; i < 256; i++) for (const [r, g, b] of [[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]]) look(i * r, i * g, i * b)
  for (let r = 0; r < 256; r += 5) for (let g = 0; g < 256; g += 5) for (let b = 0; b < 256; b += 5) look(r, g, b)
  assert.ok(worst.ratio >= 4.5, `${worst.ground} has ${worst.ratio}`)
  assert.deepEqual([ink('#ffffff'), ink('#FFCC00'), ink('#000000'), ink('#4F46E5')], ['#000', '#000', '#fff', '#fff'])
})

test('the waits grow to five minutes, and no two are alike', async () => {
  const { backoff } = await load('sender.ts')
  assert.deepEqual([1, 2, 3, 8, 9, 50].map((tries) => backoff(tries, 0.5)), [2000, 4000, 8000, 256_000, 300_000, 300_000])
  assert.deepEqual([backoff(1, 0), backoff(1, 0.999999) < 3000], [1000, true])
  assert.notEqual(backoff(3), backoff(3))
})

test('files are known by their bytes', async () => {
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

test('a token is known by its person', async () => {
  const { subject } = await load('app.ts')
  const token = (claims) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
  assert.equal(subject(token({ sub: 'ü?>u1', exp: 1 })), subject(token({ sub: 'ü?>u1', exp: 2 })))
  assert.notEqual(subject(token({ sub: 'u1' })), subject(token({ sub: 'u2' })))
  assert.equal(subject(token({ email: 'ada@example.com' })), 'ada@example.com')
  assert.equal(subject('no token'), 'no token')
})

test('every catalogue has the same texts with the same places to fill in', () => {
  const catalogues = Object.fromEntries(readdirSync(path.join(folder, 'src/locales')).map((file) => [path.parse(file).name, JSON.parse(readFileSync(path.join(folder, 'src/locales', file), 'utf8'))]))
  assert.ok(Object.keys(catalogues).length >= 10)
  const places = (text) => (text.match(/{\w+}/g) ?? []).sort()
  for (const [language, texts] of Object.entries(catalogues)) {
    assert.deepEqual(Object.keys(texts), Object.keys(catalogues.en), language)
    assert.equal(texts.lang, language)
    for (const [name, text] of Object.entries(texts)) {
      assert.ok(text.trim(), `${language}: ${name}`)
      assert.deepEqual(places(text), places(catalogues.en[name]), `${language}: ${name}`)
    }
  }
})

test('no source makes markup or code of text', () => {
  const sources = readdirSync(path.join(folder, 'src')).filter((file) => file.endsWith('.ts'))
  assert.ok(sources.length > 15)
  for (const file of sources) {
    const source = readFileSync(path.join(folder, 'src', file), 'utf8')
    assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\('on|DOMParser|document\.cookie/, file)
    assert.ok(source.split('\n').length < 400, `${file} is too long`)
  }
})

test('the types say what the module takes', () => {
  const compile = (lines) => {
    const ts = require('typescript')
    const name = path.join(folder, 'dist', 'sample.ts')
    const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'], types: [] }
    const host = ts.createCompilerHost(options)
    const { fileExists, readFile, getSourceFile } = host
    const source = `import Gatherkit, { type Events } from './widget.js'\n${lines}`
    host.fileExists = (file) => file === name || fileExists(file)
    host.readFile = (file) => (file === name ? source : readFile(file))
    host.getSourceFile = (file, ...rest) => (file === name ? ts.createSourceFile(file, source, ts.ScriptTarget.ES2022) : getSourceFile(file, ...rest))
    return ts.getPreEmitDiagnostics(ts.createProgram([name], options, host)).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  }
  assert.deepEqual(compile(`
    Gatherkit('boot', { key: 'gk_1', theme: 'page', identity: { getToken: async () => 'token' } })
    Gatherkit('on', 'submit', ({ id, request }) => { const title: string = request.title + id; window.Gatherkit!('open', { prefill: { title } }) })
    Gatherkit('identify'); Gatherkit('destroy'); Gatherkit('set', { strings: { send: 'Go' } }, { key: 'gk_1' })
    const kind: Events['error']['kind'] = 'offline'`), [])
  for (const wrong of ["Gatherkit('boot', {})", "Gatherkit('boot', { key: 'gk_1', theme: 'blue' })", "Gatherkit('on', 'sent', () => {})", "Gatherkit('fly')"]) assert.notDeepEqual(compile(wrong), [], wrong)
})

test('dist is what the sources build, and weighs what it may', () => {
  const read = (root) => Object.fromEntries(readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => {
    const file = path.join(entry.parentPath, entry.name)
    return [path.relative(root, file), readFileSync(file, 'utf8')]
  }))
  const built = mkdtempSync(path.join(tmpdir(), 'gatherkit-widget-'))
  try {
    const report = execFileSync('node', ['build.mjs', built], { cwd: folder, encoding: 'utf8' })
    assert.match(report, /^first: \d+ of 9000 bytes\nall: \d+ of 12000 bytes\n$/)
    assert.deepEqual(read(path.join(folder, 'dist')), read(built), 'run npm run build in web/widget')
  } finally {
    rmSync(built, { recursive: true })
  }
})
