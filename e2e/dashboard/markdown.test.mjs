// The parser of Markdown and the mentions in it, without a browser.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'

const web = path.resolve(import.meta.dirname, '../../web')
const { build } = createRequire(path.join(web, 'widget/package.json'))('esbuild')
const { outputFiles } = await build({
  stdin: { contents: 'export * from "./blocks"; export * from "./mentions"', resolveDir: path.join(web, 'dashboard/src/text') },
  bundle: true, write: false, format: 'esm', platform: 'neutral',
})
const text = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
const { markdown, toField, fromField, mentionOf, typedName } = text

// shown returns parsed text in a short notation.
function shown(part) {
  if (Array.isArray(part)) return part.map(shown).join('')
  const of = part.items ? part.items.map((item) => `<li>${shown(item)}</li>`).join('') : part.of ? shown(part.of) : part.text ?? part.name ?? ''
  const short = { paragraph: 'p', heading: 'h', list: part.first === undefined ? 'ul' : 'ol' + part.first, mention: '@' + part.id?.slice(-1) }
  return part.kind === 'text' ? of : part.kind === 'break' ? '/' : `<${short[part.kind] ?? part.kind}${part.href ? ' ' + part.href : ''}>${of}</>`
}
const id = (n) => `0193e0a0-0000-7000-8000-00000000000${n}`

for (const [source, want] of [
  ['**bold** *italic* __bold__ _italic_ ~~gone~~ ~not~', '<p><strong>bold</> <em>italic</> <strong>bold</> <em>italic</> <del>gone</> ~not~</>'],
  ['***both*** **a *b* c** *a **b** c*', '<p><em><strong>both</></> <strong>a <em>b</> c</> <em>a <strong>b</> c</></>'],
  ['snake_case_name and 2 * 3 * 4, ** no **', '<p>snake_case_name and 2 * 3 * 4, ** no **</>'],
  ['**never closed *at all', '<p>**never closed *at all</>'],
  ['one\ntwo\\\nthree\r\n\r\nfour', '<p>one/two/three</><p>four</>'],
  ['`**code**` ``a ` b`` `unclosed', '<p><code>**code**</> <code>a ` b</> `unclosed</>'],
  ['```js\n**x**\n  y\n```\nafter', '<code>**x**\n  y</><p>after</>'],
  ['~~~\nnever closed', '<code>never closed</>'],
  ['# Title ##\n###### Small\n#hashtag', '<h>Title</><h>Small</><p>#hashtag</>'],
  ['- a\n- b\n  - c\n\n  more\n- d', '<ul><li><p>a</></li><li><p>b</><ul><li><p>c</></li></><p>more</></li><li><p>d</></li></>'],
  ['- a\n\n- b\nlazy\n\nout', '<ul><li><p>a</></li><li><p>b/lazy</></li></><p>out</>'],
  ['3) three\n4) four\n- other', '<ol3><li><p>three</></li><li><p>four</></li></><ul><li><p>other</></li></>'],
  ['It was in\n2026. Really.', '<p>It was in/2026. Really.</>'],
  ['Steps:\n1. one\n* two', '<p>Steps:</><ol1><li><p>one</></li></><ul><li><p>two</></li></>'],
  ['> a\n> > b\nc', '<quote><p>a</><quote><p>b</></></><p>c</>'],
  ['a\n---\nb', '<p>a</><rule></><p>b</>'],
  ['\\*no\\* \\[a](b) \\q', '<p>*no* [a](b) \\q</>'],
  ['<b>HTML</b> &amp; <!-- -->', '<p><b>HTML</b> &amp; <!-- --></>'],
  ['[t](https://a.b/c_(d) "x") [m](mailto:a@b.c) [](https://a.b)', '<p><link https://a.b/c_(d)>t</> <link mailto:a@b.c>m</> <link https://a.b/>https://a.b/</></>'],
  ['![picture](https://x.y/z.png)', '<p><link https://x.y/z.png>picture</></>'],
  ['[**b** `c`](https://a.b) [no] [no](no) [no](/no)', '<p><link https://a.b/><strong>b</> <code>c</></> [no] [no](no) [no](/no)</>'],
  ['[https://a.b [in](https://x.y)](https://c.d)', '<p><link https://c.d/>https://a.b in</></>'],
  ['See https://a.b/c_d_e?f=(g), (http://x.y/z). ok@a.co.uk!', '<p>See <link https://a.b/c_d_e?f=(g)>https://a.b/c_d_e?f=(g)</>, (<link http://x.y/z>http://x.y/z</>). <link mailto:ok@a.co.uk>ok@a.co.uk</>!</>'],
  ['„https://a.b/c“ 详见https://a.b/c。谢谢 「https://a.b/c」（https://a.b/c） https://a.b/c؟', '<p>„<link https://a.b/c>https://a.b/c</>“ 详见<link https://a.b/c>https://a.b/c</>。谢谢 「<link https://a.b/c>https://a.b/c</>」（<link https://a.b/c>https://a.b/c</>） <link https://a.b/c>https://a.b/c</>؟</>'],
  ['https://a.b/käse/例 https://a.b/“x” (https://a.b/c)。', '<p><link https://a.b/k%C3%A4se/%E4%BE%8B>https://a.b/käse/例</> <link https://a.b/>https://a.b/</>“x” (<link https://a.b/c>https://a.b/c</>)。</>'],
  ['<https://q.r> <m@n.o> <javascript:x> xhttps://a.b', '<p><link https://q.r/>https://q.r</> <link mailto:m@n.o>m@n.o</> <javascript:x> xhttps://a.b</>'],
  [`**@[Ada L.](user:${id(1)})** @[x](y)`, '<p><strong><@1>Ada L.</></> @[x](y)</>'],
]) test(`parses ${JSON.stringify(source)}`, () => assert.equal(shown(markdown(source)), want))

// The cases that the widget and the portal know, too, in their notation.
function common(part) {
  if (Array.isArray(part)) return part.map(common).join('')
  const { kind, of = [], text = '', href, first, items = [] } = part
  if (kind === 'text') return text
  if (kind === 'break') return '/'
  if (kind === 'list') {
    const inside = items.map((item) => `<li>${common(item).replace(/^<p>(.*)<\/p>$/, '$1')}</li>`).join('')
    return first === undefined ? `<ul>${inside}</ul>` : `<ol ${first}>${inside}</ol>`
  }
  const tags = { paragraph: 'p', heading: 'h', link: 'a' }
  const tag = kind === 'code' && text.includes('\n') ? 'pre' : tags[kind] ?? kind
  const inside = common(of) + text
  return `<${tag}${href ? ` ${href}` : ''}>${kind === 'quote' ? inside.replace(/^<p>(.*)<\/p>$/, '$1') : inside}</${tag}>`
}
for (const [source, want] of JSON.parse(readFileSync(new URL('../../internal/portal/testdata/markdown.json', import.meta.url), 'utf8'))) {
  test(`parses ${JSON.stringify(source)} as everywhere`, () => assert.equal(common(markdown(source)), want))
}

for (const target of [
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\tscript:alert(1)', '\u0001javascript:alert(1)',
  'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', 'blob:x', '//a.b', '/a', '#a', 'ftp://a.b', 'https:', 'user:' + id(1),
]) {
  test(`has no link to ${JSON.stringify(target)}`, () => {
    for (const source of [`[a](${target})`, `[a](<${target}>)`, `<${target}>`, target, `![a](${target})`]) {
      assert.doesNotMatch(JSON.stringify(markdown(source)), /"link"/, source)
    }
  })
}

// depth is how deep parts are in each other.
const depth = (part) => Array.isArray(part) ? part.reduce((most, one) => Math.max(most, depth(one)), 0)
  : 1 + Math.max(depth(part.of ?? []), depth(part.items ?? []))

test('hostile text is parsed about as fast as plain text, and not deeply', () => {
  const size = 10_000
  const long = (unit, end = '') => unit.repeat(Math.ceil(size / unit.length)).slice(0, size - end.length) + end
  const took = (source) => {
    const began = process.cpuUsage() // a busy machine makes the time longer, but hardly the work
    const parts = markdown(source)
    const { user, system } = process.cpuUsage(began)
    assert.ok(depth(parts) <= 16, `${source.slice(0, 20)} is ${depth(parts)} deep`)
    return user + system
  }
  const best = (source) => Math.min(...Array.from({ length: 5 }, () => took(source)))
  const plain = best(long('Some words, and\nmore of **them**. '))
  const most = 300 // what takes quadratic time takes thousands of times as long
  for (const source of [
    ...['>', '> ', '- ', '1. ', '* - ', '*a ', '**a *b ', '*a**a', '_a ', '~~a', '*_', '[', '![', '[a](', '](', '[a](x', '`', '`a``', '<a ', '<a@'],
    ...['http://', 'a@', 'a@b.', '@[', '\\', '# ', '```\n', '- a\n\n', '> \n', '\n', ' ', '- - ', '- a\n  ', '|', '"', '[a](http://b.c "', '_ _'],
  ].map((unit) => long(unit)).concat(
    long('[*a', '*](http://x.y)'.repeat(200)), long('**a *b ', '* b** '.repeat(800)), 'http://x/' + ')'.repeat(size), '*'.repeat(size / 2) + 'a' + '*'.repeat(size / 2),
    '[a](' + ' '.repeat(size), '`'.repeat(size) + 'x', Array.from({ length: 140 }, (_, i) => '`'.repeat(i)).join('a'),
    Array.from({ length: 140 }, (_, i) => ' '.repeat(i) + '- a').join('\n'), '# ' + '#'.repeat(size) + 'x', '[a](http://' + 'x'.repeat(size) + ')',
  )) {
    const times = best(source) / plain
    assert.ok(times < most, `${JSON.stringify(source.slice(0, 20))} takes ${Math.round(times)} times as long as plain text`)
  }
})

test('a field has names, and a comment ids', () => {
  const users = [['a', 'Ada'], ['b', 'Ada Lovelace'], ['c', 'Bo'], ['d', 'Bo'], ['e', 'Eve [x]']].map(([n, name]) => ({ id: id(n), name }))
  const [ada, lovelace, bo] = users
  const field = `@Ada, (@Ada Lovelace)! ${mentionOf(bo, users)} @Bo @Eve [x]`
  const body = `@[Ada](user:${id('a')}), (@[Ada Lovelace](user:${id('b')}))! @[Bo](user:${id('c')}) @Bo @[Eve x](user:${id('e')})`
  assert.equal(fromField(field, users), body)
  assert.equal(toField(body, users), field)
  assert.equal(toField(`@[Old name](user:${id('b').toUpperCase()})`, users), '@Ada Lovelace')
  assert.equal(toField(`@[Gone](user:${id(9)})`, users), `@[Gone](user:${id(9)})`)
  for (const same of ['', '@', '@Adam', 'me@Ada', '@ada', '@Adä']) assert.equal(fromField(same, users), same)
  assert.equal(mentionOf(ada, users) + mentionOf(lovelace, users), '@Ada@Ada Lovelace')
  assert.equal(mentionOf(bo, users), `@[Bo](user:${id('c')})`)
})

test('nobody is mentioned in code', () => {
  const users = [{ id: id('a'), name: 'Ada' }]
  for (const [field, mentions] of [
    ['`@Ada` ``a ` @Ada`` @Ada', 1], ['a\n```go\n@Ada\n\n@Ada\n```\n@Ada\n  ~~~~\n```\n@Ada', 1], ['> ```\n> @Ada\n> ```\n> @Ada\n- ~~~\n  @Ada\n  ~~~', 1],
    ['a ` b\n\n@Ada ` c\n- ` d\n- @Ada` ``` \\`', 2], ['\\`@Ada` \\\\`@Ada`', 2], ['\\\\`@Ada` @Ada', 1], ['# a ` b\n@Ada` c\n```a`\n@Ada', 2], ['`@Ada', 1], ['x' + '`'.repeat(9000) + '@Ada', 1], ['- a ` b\n- @Ada` c\n> d ` e\n1. @Ada`', 2], ['# ```\n@Ada', 1],
  ]) {
    const body = fromField(field, users)
    assert.equal(body.split('(user:').length - 1, mentions, field)
    assert.equal(JSON.stringify(markdown(body)).split('"mention"').length - 1, mentions, `${field} as it is shown`)
    assert.equal(body.replace(/@\[Ada\]\(user:[^)]*\)/g, '@Ada'), field)
  }
})

test('a name begins after an @ that begins a word', () => {
  for (const [written, want] of [
    ['@', [0, '']], ['Hi @ad', [3, 'ad']], ['(@Ada L', [1, 'Ada L']], ['@a @b', [3, 'b']], ['a\n@b', [2, 'b']],
    ['a@b', undefined], ['@a\nb', undefined], ['', undefined], ['@[A](user:', undefined], ['@' + 'x'.repeat(51), undefined],
  ]) {
    const found = typedName(written, written.length)
    assert.deepEqual(found && [found.at, found.words], want, written)
  }
  assert.deepEqual(typedName('@ada and more', 3), { at: 0, words: 'ad' })
})
