// The parts of the dashboard that need no browser: edits and how they change lists. Also tests what
// `npm run check` refuses.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, test } from 'node:test'

const web = path.resolve(import.meta.dirname, '../../web')
const { build } = createRequire(path.join(web, 'widget/package.json'))('esbuild')

// calls replaces calls to the service by globalThis.call.
const calls = {
  name: 'calls',
  setup(on) {
    on.onResolve({ filter: /\/call$/ }, () => ({ path: 'call', namespace: 'calls' }))
    const contents = 'export const call = (...args) => globalThis.call(...args); export class ApiError extends Error {}'
    on.onLoad({ filter: /^call$/, namespace: 'calls' }, () => ({ contents }))
  },
}

// The modules are in one bundle, so that they share the cache of queries.
const modules = [
  'requests/fold', 'requests/target', 'requests/edits', 'requests/lists', 'requests/rows', 'requests/eta', 'requests/drafts',
  'requests/audience', 'text/cut', 'text/searchable', 'text/typos',
  'inbox/search', 'inbox/selection', 'inbox/visit', 'shell/commands',
  'api/queries',
]
const { outputFiles } = await build({
  stdin: { contents: modules.map((name) => `export * from "./${name}"`).join('\n'), resolveDir: path.join(web, 'dashboard/src') },
  bundle: true, write: false, format: 'esm', platform: 'neutral', mainFields: ['module', 'main'], plugins: [calls],
  loader: { '.css': 'empty' },
})
const units = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
const { queryClient, listQuery, requestQuery } = units

test('shortcuts are Latin letters, wherever a layout has them', () => {
  for (const [layout, key, code, want, more = {}] of [
    ['English', 'j', 'KeyJ', 'j'], ['English', 'X', 'KeyX', 'shift+x', { shiftKey: true }], ['English', 'ArrowDown', 'ArrowDown', 'ArrowDown'],
    ['Russian', 'о', 'KeyJ', 'j'], ['Russian', 'Ч', 'KeyX', 'shift+x', { shiftKey: true }], ['Russian', 'л', 'KeyK', 'Ctrl+K', { ctrlKey: true }],
    ['Russian', '№', 'Digit3', '#', { shiftKey: true }], ['Russian', '?', 'Digit7', '?', { shiftKey: true }], ['Greek', 'ξ', 'KeyJ', 'j'],
    ['Arabic', 'لا', 'KeyB', 'b'], ['Arabic', 'ظ', 'Slash', '/'], ['Arabic', '؟', 'Slash', '?', { shiftKey: true }], ['Arabic', '١', 'Digit1', '1'],
    ['Thai', '่', 'KeyJ', 'j'], ['Dvorak', 'h', 'KeyJ', 'h'], ['Dvorak', 'j', 'KeyC', 'j'], ['AZERTY', 'a', 'KeyQ', 'a'], ['German', 'ü', 'BracketLeft', 'ü'],
    ['British', '£', 'Digit3', '£', { shiftKey: true }], ['Turkish', 'ğ', 'KeyE', 'ğ'], ['Bépo', 'è', 'KeyT', 'è'], ['French', 'É', 'Slash', 'É', { shiftKey: true }],
    ['German with AltGr', '€', 'KeyE', '€', { altGraph: true }], ['Greek with AltGr', '€', 'KeyE', '€', { altGraph: true }],
  ]) assert.equal(units.keyOf({ key, code, shiftKey: false, ctrlKey: false, metaKey: false, getModifierState: () => more?.altGraph, ...more }), want, `${layout} ${key}`)
})

const row = (id, more = {}) => ({
  id, status: 'opened', assignee_id: null, eta: null, tags: [], votes: 1, version: 1, merged_into_id: null,
  created_at: `2026-01-0${id}T00:00:00Z`, updated_at: `2026-01-0${id}T00:00:00Z`, ...more,
})

// list puts pages of rows into the cache. With `more`, the list has further pages.
function list(where, sort, pages, more = false) {
  const total = pages.flat().length + (more ? 100 : 0)
  const next = (i) => (i < pages.length - 1 || more ? `cursor${i}` : '')
  const { queryKey } = listQuery(where, sort)
  queryClient.setQueryData(queryKey, {
    pages: pages.map((rows, i) => ({ rows, next: next(i), total, exact: true })), pageParams: pages.map((_, i) => (i ? next(i - 1) : '')),
  })
  return {
    ids: () => queryClient.getQueryData(queryKey).pages.map(({ rows }) => rows.map(({ id }) => id).join('')),
    rows: () => queryClient.getQueryData(queryKey).pages.flatMap(({ rows }) => rows),
    totals: () => queryClient.getQueryData(queryKey).pages.map((page) => page.total),
  }
}

beforeEach(() => {
  queryClient.clear()
  globalThis.call = (operation) => assert.fail(`${operation} was called`)
})

test('a row has the sender and the beginning of the description', () => {
  const rowOf = (description, submitter) => units.rowOf({ ...row('1'), description, submitter, metadata: {}, attachments: [] })
  const excerpt = (description) => rowOf(description, {}).excerpt
  assert.equal(excerpt(' One\n\ntwo. '), 'One two.')
  assert.equal(excerpt('😀'.repeat(240)), '😀'.repeat(240))
  assert.equal(excerpt('😀'.repeat(300)), '😀'.repeat(240) + '…')
  assert.equal(excerpt(''), '')
  const ada = { name: 'Ada', email: 'ada@example.com', external_id: '7' }
  assert.equal(rowOf('', ada).sender, 'Ada')
  assert.equal(rowOf('', { ...ada, name: null }).sender, 'ada@example.com')
  assert.equal(rowOf('', { ...ada, name: null, email: null }).sender, '7')
  assert.equal(rowOf('', {}).sender, '')
  const made = rowOf('One', ada)
  assert.deepEqual(units.rowOf(made), made)
})

test('an ETA is a day, a month or a quarter', () => {
  const { etaText, etasFrom, typedETA } = units
  assert.equal(etaText('2026-12-31'), 'Dec 31, 2026')
  assert.equal(etaText('2026-12'), 'December 2026')
  assert.equal(etaText('2027-Q1'), 'Q1 2027')
  const offered = etasFrom(new Date(2026, 10, 23))
  assert.deepEqual(offered.slice(0, 3), ['2026-Q4', '2027-Q1', '2027-Q2'])
  assert.deepEqual(offered.slice(6, 9), ['2026-11', '2026-12', '2027-01'])
  for (const [words, eta] of [
    ['2026-12-31', '2026-12-31'], ['2026-1', '2026-01'], [' 2026-2-3 ', '2026-02-03'], ['q3 2027', '2027-Q3'], ['2027-Q3', '2027-Q3'],
    ['jun 2027', '2027-06'], ['June 2027', '2027-06'], ['dec', '2026-12'], ['Sept', '2027-09'], ['15 march', '2027-03-15'], ['Nov 22', '2027-11-22'],
    ['nov 23', '2026-11-23'], ['november', '2026-11'], ['March 5, 2028', '2028-03-05'], ['1. may 2027', '2027-05-01'], ['24.12.2026', '2026-12-24'],
    ['tomorrow', '2026-11-24'], ['next month', '2026-12'], ['next quarter', '2027-Q1'],
    ['31 feb', undefined], ['march 5 6', undefined], ['5 march 6', undefined], ['junk 2027', undefined], ['mayor', undefined], ['32.12.2026', undefined],
    ['2026-13', undefined], ['2026-02-30', undefined], ['Q5 2026', undefined], ['soon', undefined], ['2026', undefined],
  ]) assert.equal(typedETA(words, new Date(2026, 10, 23)), eta, words)
})

test('a sentence says who outside will see a change', () => {
  const says = (askers, voters, links, sender = 'Ada', submitter = askers > 0) =>
    units.seenBy({ askers, submitter, voters, links }, { sender }, 'this')
  for (const [sentence, ...params] of [
    ['No customer will be notified', 0, 0, 0],
    ['Ada will see this', 1, 0, 0],
    ['Ada and 1 voter will see this', 1, 1, 0],
    ['Ada and 12 voters will see this', 1, 12, 0],
    ['12 voters will see this', 0, 12, 0],
    ['1,200 voters will see this', 0, 1200, 0],
    ['Ada and 1 other submitter will see this', 2, 0, 0],
    ['Ada, 2 other submitters and 12 voters will see this', 3, 12, 0],
    ['Ada, 2 other submitters, 12 voters and anyone with a link will see this', 3, 12, 2],
    ['Anyone with a link will see this', 0, 0, 1],
    ['1 customer will see this', 1, 0, 0, ''],
    ['2 customers and anyone with a link will see this', 2, 0, 1, ''],
    ['1 customer will see this', 1, 0, 0, 'Ada', false],
    ['ada@example.com will see this', 1, 0, 0, 'ada@example.com'],
    ['😀'.repeat(29) + '… will see this', 1, 0, 0, '😀'.repeat(31)],
  ]) assert.equal(says(...params), sentence)
  assert.equal(units.seenBy({ askers: 0, submitter: false, voters: 0, links: 0 }, { sender: '' }, 'a merge'), 'No customer will be notified')
})

test('the history says how many people were told', () => {
  const { toldOf } = units
  assert.equal(toldOf({ status: 'planned', told: 13 }), '13 people were told.')
  assert.equal(toldOf({ told: 1 }), '1 person was told.')
  assert.equal(toldOf({ quiet: true, told: 0 }), 'Nobody was told.')
  for (const nothing of [{}, { told: 0 }, { quiet: false, told: 0 }, { told: 'many' }]) assert.equal(toldOf(nothing), '', JSON.stringify(nothing))
})

test('tags and names are compared without case and surrounding white space', () => {
  assert.equal(units.fold('  Größe\n'), units.fold('GRÖSSE'))
  assert.equal(units.fold('Γιώργος'), units.fold('ΓΙΏΡΓΟΣ'))
  assert.equal(units.fold('\ufeffBu\u00adg\u200b '), 'bug')
  assert.equal(units.fold('ÉTÉ'), units.fold('été'))
  for (const [one, other, same] of [
    ['ΝΊΚΟΣ@BÜCHER.example', ' νίκος@xn--bcher-kva.example\u200b', true], ['strauß@a.example', 'strauss@a.example', false],
    ['ada@faß.example', 'ada@fass.example', false], ['ada@[1', 'ADA@[1', true],
  ]) assert.equal(units.foldEmail(one) === units.foldEmail(other), same, one)
})

test('shared returns a value that all requests of a target have', () => {
  const { shared } = units
  const requests = [row(1, { status: 'planned' }), row(2, { status: 'planned', eta: '2026-05-01' })]
  assert.equal(shared({ requests }, ({ status }) => status), 'planned')
  assert.equal(shared({ requests }, ({ eta }) => eta), undefined)
  assert.equal(shared({ requests: requests.slice(0, 1) }, ({ eta }) => eta), null, 'the request has none')
  assert.equal(shared({ matching: {}, count: 2 }, ({ status }) => status), undefined, 'unknown for requests that are not loaded')
})

test('an edit changes only the fields that it names', () => {
  const { edited, differs } = units
  const before = row(1, { tags: ['Mobile', 'api'], assignee_id: 'u1' })
  const { status, assignee_id, eta } = edited(before, { status: 'planned', eta: '2026-05-01' })
  assert.deepEqual([status, assignee_id, eta], ['planned', 'u1', '2026-05-01'])
  assert.equal(edited(before, { assignee_id: null }).assignee_id, null)
  assert.deepEqual(edited(before, { add_tags: ['MOBILE', 'new'], remove_tags: ['API'] }).tags, ['Mobile', 'new'])
  assert.deepEqual(edited(before, { add_tags: ['api'], remove_tags: ['api'] }).tags, ['Mobile', 'api'], 'an added tag is not removed')
  assert.equal(edited(row(2, { status: 'duplicate', merged_into_id: '1' }), { status: 'planned' }).status, 'duplicate')
  assert.deepEqual(before, row(1, { tags: ['Mobile', 'api'], assignee_id: 'u1' }), 'the original row was changed')
  assert.equal(differs(before, edited(before, { add_tags: ['mobile'], assignee_id: 'u1' })), false)
  for (const edit of [{ status: 'planned' }, { assignee_id: null }, { eta: '2026-05-01' }, { remove_tags: ['api'] }]) {
    assert.equal(differs(before, edited(before, edit)), true, Object.keys(edit)[0])
  }
})

test('the edit between two rows turns one into the other, in both directions', () => {
  const { edited, editOf } = units
  const before = row(1, { tags: ['a', 'B'], assignee_id: 'u1', eta: '2026-05-01' })
  const after = { ...before, status: 'planned', assignee_id: null, eta: null, tags: ['a', 'c'] }
  assert.deepEqual(editOf({ before, after }), { status: 'planned', assignee_id: null, eta: null, add_tags: ['c'], remove_tags: ['B'] })
  assert.deepEqual(edited(before, editOf({ before, after })), after)
  assert.deepEqual(edited(after, editOf({ before: after, after: before })), before)
  assert.deepEqual(editOf({ before, after: before }), {})
})

test('a change that waits applies to what the request is now', () => {
  const { changedBy } = units
  const before = row(1, { tags: ['a', 'b'], assignee_id: 'u1' })
  const now = row(1, { tags: ['b', 'c'], status: 'declined', eta: '2026-05', votes: 7, version: 4 })
  const changed = changedBy({ before, after: { ...before, assignee_id: null, tags: ['a', 'd'], version: 2 } }, now)
  assert.deepEqual(changed, { ...now, assignee_id: null, tags: ['c', 'd'] })
  const merged = { ...before, status: 'duplicate', merged_into_id: '9' }
  assert.deepEqual(changedBy({ before, after: merged }, now), { ...now, status: 'duplicate', merged_into_id: '9' })
  const unmerged = changedBy({ before: merged, after: { ...merged, merged_into_id: null } }, { ...now, merged_into_id: '9' })
  assert.deepEqual(unmerged, { ...now, merged_into_id: null })
  assert.deepEqual(changedBy({ before, after: { ...before, eta: '2026-06' } }, { ...now, merged_into_id: '9' }).merged_into_id, '9')
})

test('drafts are of one user, removed when they are empty, and limited in time and size', (t) => {
  const { readDraft, writeDraft } = units
  const stored = new Map()
  globalThis.localStorage = {
    getItem: (name) => stored.get(name) ?? null, setItem: (name, text) => stored.set(name, text), removeItem: (name) => stored.delete(name),
  }
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  t.after(() => delete globalThis.localStorage)
  writeDraft('ada', 'comment.1', 'Half a')
  writeDraft('ada', 'comment.1', 'Half a sentence')
  writeDraft('ada', 'comment.2', 'Another')
  assert.deepEqual([readDraft('ada', 'comment.1'), readDraft('grace', 'comment.1')], ['Half a sentence', ''])
  writeDraft('ada', 'comment.2', '')
  writeDraft('ada', 'comment.1', '')
  assert.equal(stored.size, 0)

  const day = 24 * 3600_000
  writeDraft('ada', 'old', 'text')
  t.mock.timers.setTime(20 * day)
  writeDraft('ada', 'new', 'text')
  assert.equal(readDraft('ada', 'old'), 'text')
  t.mock.timers.setTime(31 * day)
  assert.deepEqual([readDraft('ada', 'old'), readDraft('ada', 'new')], ['', 'text'])

  // The latest are kept.
  for (let n = 0; n < 30; n++) {
    t.mock.timers.setTime((32 * 24 * 3600 + n) * 1000)
    writeDraft('ada', `long.${n}`, 'x'.repeat(20_000))
  }
  assert.ok([...stored.values()].join('').length < 250_000, 'drafts can fill the storage')
  assert.deepEqual([readDraft('ada', 'long.29').length, readDraft('ada', 'long.20').length], [20_000, 20_000])
  assert.deepEqual([readDraft('ada', 'long.19'), readDraft('ada', 'new')], ['', ''])

  // Another script wrote something else, or the browser blocks storage.
  stored.set('gatherkit.drafts.ada', 'not JSON')
  assert.equal(readDraft('ada', 'comment.1'), '')
  globalThis.localStorage = undefined
  writeDraft('ada', 'comment.1', 'Until the page is closed')
  assert.equal(readDraft('ada', 'comment.1'), 'Until the page is closed')
})

test('only some edits can be bulk changes', () => {
  const { bulkSet } = units
  assert.deepEqual(bulkSet({ status: 'planned', assignee_id: null, eta: '2026-05-01' }), { status: 'planned', assignee_id: 'none' })
  assert.deepEqual(bulkSet({ add_tags: ['a'], assignee_id: 'u1' }), { add_tags: ['a'], assignee_id: 'u1' })
  assert.equal(bulkSet({ eta: null }), undefined)
  assert.equal(bulkSet({ status: 'duplicate' }), undefined, 'only merging makes duplicates')
})

test('requests with the same edit are grouped, and split into chunks', () => {
  const { chunks, grouped } = units
  const pairs = [1, 2, 3].map((id) => ({ before: row(id), after: row(id, { status: id === 2 ? 'declined' : 'planned' }) }))
  const groups = grouped(pairs, units.editOf)
  const ids = groups.map(({ edit, pairs }) => [edit.status, pairs.map(({ before }) => before.id)])
  assert.deepEqual(ids, [['planned', [1, 3]], ['declined', [2]]])
  assert.deepEqual(chunks([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
  assert.deepEqual(chunks([], 2), [])
})

test('a changed row leaves lists that it no longer matches, and returns to its position', () => {
  const open = list({ status: ['opened'] }, 'newest', [[row(5), row(4)], [row(3), row(2)]])
  const all = list({}, 'newest', [[row(5), row(4), row(3), row(2)]])
  const left = new Map()
  units.place([row(4, { status: 'planned', version: 2 }), row(3, { status: 'planned', version: 2 })], undefined, left)
  assert.deepEqual([open.ids(), open.totals()], [['5', '2'], [2, 2]])
  assert.deepEqual([all.ids(), all.totals()], [['5432'], [4]])
  assert.deepEqual(all.rows().map(({ status }) => status), ['opened', 'planned', 'planned', 'opened'])
  units.place([row(3), row(4)], undefined, left)
  assert.deepEqual([open.ids(), open.totals()], [['5', '432'], [4, 4]])
  units.place([row(4)], undefined, left)
  assert.deepEqual([open.ids(), open.totals()], [['5', '432'], [4, 4]], 'a row that is already in the list is inserted again')
})

test('a list that was reloaded after a row left it stays as loaded', () => {
  const left = new Map()
  list({}, 'newest', [[row(3), row(2)]])
  units.place([row(2, { version: 2 })], 'bin', left)
  const with2 = list({}, 'newest', [[row(3), row(2)]])
  units.place([row(2, { version: 3 })], 'live', left)
  assert.deepEqual([with2.ids(), with2.totals()], [['32'], [2]], 'the row is already in the list')
  const without2 = list({}, 'newest', [[row(3)]])
  units.place([row(2, { version: 4 })], 'live', left)
  assert.deepEqual([without2.ids(), without2.totals()], [['3'], [1]], 'the row has already returned once')
})

test('a row that was in no list is not inserted', () => {
  const open = list({ status: ['opened'] }, 'newest', [[row(5)]])
  units.place([row(4)], undefined)
  assert.deepEqual([open.ids(), open.totals()], [['5'], [1]])
})

test('a row returns only to the loaded part of a list', () => {
  const left = new Map()
  const some = list({}, 'newest', [[row(9), row(7), row(2)]], true)
  units.place([row(2, { version: 2 })], 'bin', left)
  assert.deepEqual([some.ids(), some.totals()], [['97'], [102]])
  units.place([row(2, { version: 3 })], 'live', left)
  assert.deepEqual([some.ids(), some.totals()], [['97'], [103]], 'the next page will have the row')
  const end = list({ box: 'live' }, 'newest', [[row(9), row(7), row(2)]])
  units.place([row(2, { version: 2 })], 'bin', left)
  units.place([row(2, { version: 3 })], 'live', left)
  assert.deepEqual([end.ids(), end.totals()], [['972'], [3]])
})

for (const [sort, ids] of Object.entries({ newest: '9753', oldest: '3579', most_voted: '9537', recently_updated: '5397' })) {
  test(`a row returns to its position in the order "${sort}"`, () => {
    const more = { 9: { votes: 8 }, 7: {}, 5: { votes: 8, updated_at: '2026-02-02' }, 3: { votes: 4, updated_at: '2026-02-01' } }
    const rows = [...ids].map((id) => row(id, more[id]))
    for (const id of ids) {
      const left = new Map()
      const sorted = list({}, sort, [rows])
      const gone = rows.find((one) => one.id === id)
      units.place([gone], 'bin', left)
      assert.deepEqual(sorted.ids(), [ids.replace(id, '')])
      units.place([gone], 'live', left)
      assert.deepEqual(sorted.ids(), [ids])
    }
  })
}

test('in the order of best matches, a row comes back to where it was', () => {
  const left = new Map()
  const best = list({ query: 'dark' }, 'relevance', [[row(4), row(9), row(2)], [row(7), row(1)]], true)
  units.place([row(2), row(9), row(1)], 'bin', left)
  assert.deepEqual([best.ids(), best.totals()], [['4', '7'], [102, 102]])
  units.place([row(4)], 'bin', left)
  assert.equal(best.ids().join(''), '7')
  units.place([row(4)], 'live', left)
  units.place([row(1), row(2), row(9)], 'live', left)
  assert.deepEqual([best.ids().join(''), best.totals()], ['49271', [105, 105]])
})

test('a search is sorted by best match unless the user chose another order', () => {
  const { changed, readSearch, sortOf, sortsOf } = units
  const searched = changed({ tag: 'api' }, { q: 'dark' })
  assert.deepEqual([searched, sortOf(searched)], [{ tag: 'api', q: 'dark', view: 'all' }, 'relevance'])
  assert.deepEqual(sortsOf(searched), ['relevance', 'newest', 'oldest', 'most_voted', 'recently_updated'])
  const newest = changed(searched, { sort: 'newest' })
  assert.deepEqual([newest.sort, sortOf(newest)], ['newest', 'newest'])
  assert.equal(changed(newest, { q: 'darker' }).sort, 'newest', 'other words keep the order')
  assert.equal(changed(newest, { sort: 'relevance' }).sort, undefined)
  const cleared = changed(newest, { q: undefined })
  assert.deepEqual([cleared, sortOf(cleared)], [{ tag: 'api', view: 'all' }, 'newest'])
  assert.deepEqual(sortsOf(cleared), ['newest', 'oldest', 'most_voted', 'recently_updated'])
  assert.equal(sortOf(changed({ sort: 'oldest' }, { q: 'dark' })), 'oldest', 'the user chose it before the search')
  assert.deepEqual(changed(newest, { box: 'bin' }), { tag: 'api', box: 'bin', view: 'all' }, 'another box ends the search')
  assert.deepEqual(readSearch({ q: 'dark', sort: 'newest' }), { q: 'dark', sort: 'newest' })
  assert.deepEqual(readSearch({ q: 'dark', sort: 'relevance' }), { q: 'dark' })
  for (const raw of [{ sort: 'newest' }, { sort: 'relevance' }, { sort: 'votes' }]) assert.deepEqual(readSearch(raw), {}, raw.sort)
})

test('a filter is read from an address and from a saved view alike', () => {
  const { readSearch, whereOf, searchOf, filtersDiffer } = units
  const person = { email: 'ada@example.org', name: 'Ada' }
  const search = readSearch({ view: 'decide', status: ['opened'], person: { ...person, more: 1 }, tag: 'api', sort: 'oldest', nothing: 1 })
  assert.deepEqual(search, { view: 'decide', status: ['opened'], person, tag: 'api', sort: 'oldest' })
  const { view: _, ...rest } = search
  assert.deepEqual(searchOf(whereOf(search), 'oldest'), rest)
  assert.deepEqual(searchOf({ status: 'planned', box: 'live' }, 'newest'), { status: ['planned'] })
  for (const raw of ['x', 7, null, {}, { email: 7 }, { verified: true }]) assert.deepEqual(readSearch({ person: raw, view: 'x' }), {})
  assert.deepEqual(readSearch({ person: { external_id: '7', verified: true } }), { person: { external_id: '7', verified: true } })
  assert.equal(filtersDiffer({ status: ['planned', 'opened'], sort: 'oldest' }, { status: ['opened', 'planned'] }), false)
  assert.equal(filtersDiffer({ status: ['planned'] }, { status: ['opened', 'planned'] }), true)
  assert.equal(filtersDiffer({}, { tag: 'api' }), true)
})

test('a visit ends when the dashboard was not visible for half an hour', () => {
  const { visiting } = units
  const at = (minutes) => new Date(Date.UTC(2026, 0, 1, 12, minutes))
  const first = visiting(undefined, at(0))
  assert.equal(first.since, at(0).toISOString(), 'nothing is new at first')
  const later = visiting(first, at(29))
  assert.deepEqual(later, { since: at(0).toISOString(), last: at(29).toISOString() })
  assert.equal(visiting(later, at(59)).since, at(0).toISOString())
  assert.equal(visiting(later, at(60)).since, at(29).toISOString(), 'what came since the last visit is new')
})

test('rows are filtered by box, status, assignee and tag', () => {
  const cases = [
    [{}, 'live', {}, true],
    [{}, 'bin', {}, false],
    [{ box: 'bin' }, 'bin', {}, true],
    [{ status: 'opened' }, undefined, {}, true],
    [{ status: ['planned', 'declined'] }, undefined, { status: 'declined' }, true],
    [{ status: ['planned'] }, undefined, {}, false],
    [{ assignee_id: 'none' }, undefined, {}, true],
    [{ assignee_id: 'none' }, undefined, { assignee_id: 'u1' }, false],
    [{ assignee_id: 'u1' }, undefined, { assignee_id: 'u1' }, true],
    [{ tag: ' API' }, undefined, { tags: ['web', 'Api'] }, true],
    [{ tag: 'api' }, undefined, { tags: ['web'] }, false],
    [{ query: 'words' }, undefined, {}, true],
  ]
  for (const [where, box, more, stays] of cases) {
    queryClient.clear()
    const filtered = list(where, 'newest', [[row(2), row(1)]])
    units.place([row(2, { ...more, version: 2 })], box)
    assert.deepEqual(filtered.ids(), [stays ? '21' : '1'], JSON.stringify([where, box, more]))
  }
})

test('the open request gets the changes of its row and keeps its other fields', () => {
  const { queryKey } = requestQuery(1)
  queryClient.setQueryData(queryKey, { ...row(1), description: 'long' })
  units.place([row(1, { status: 'planned' }), row(2)], undefined)
  assert.deepEqual(queryClient.getQueryData(queryKey), { ...row(1, { status: 'planned' }), description: 'long' })
  assert.equal(queryClient.getQueryData(requestQuery(2).queryKey), undefined, 'a row was stored as a whole request')
})

test('changes of other users are shown in place if they are newer', () => {
  const open = list({ status: ['opened'] }, 'newest', [[row(3), row(2, { version: 5 })], [row(1)]])
  units.showChanged([row(3, { status: 'planned', version: 2 }), row(2, { status: 'planned', version: 4 }), row(7)])
  assert.deepEqual([open.ids(), open.totals()], [['32', '1'], [3, 3]])
  assert.deepEqual(open.rows().map(({ status }) => status), ['planned', 'opened', 'opened'])
})

test('a list omits long fields of requests, and reads further pages with the cursor only', async () => {
  const asked = []
  globalThis.call = async (operation, params) => {
    asked.push([operation, params])
    const request = { ...row(1), description: 'long '.repeat(1000), metadata: {}, attachments: [], submitter: {} }
    return { requests: [request], next_cursor: 'next', total_count: 7, total_exact: false }
  }
  const kept = { ...row(1), sender: '', excerpt: 'long '.repeat(48).trim() + '…' }
  assert.deepEqual(await units.readRows({ tag: 'api' }, 'oldest', '', 50), { rows: [kept], next: 'next', total: 7, exact: false })
  await units.readRows({ tag: 'api' }, 'oldest', 'next', 50)
  globalThis.call = async () => ({ requests: [], next_cursor: '', total_count: 0, total_exact: true, did_you_mean: 'dark mode' })
  assert.equal((await units.readRows({ query: 'drak mode' }, 'newest', '', 50)).meant, 'dark mode')
  const first = { tag: 'api', sort: 'oldest', limit: 50 }
  assert.deepEqual(asked, [['requests-list', first], ['requests-list', { cursor: 'next', limit: 50 }]])
})

test('a selection can be toggled, extended, and made of all requests', () => {
  const { everything, extended, nothing, toggled } = units
  const loaded = ['a', 'b', 'c', 'd']
  const ids = ({ ids }) => [...ids].sort().join('')
  const one = toggled(nothing, 'b', loaded)
  assert.equal(ids(one), 'b')
  assert.equal(ids(toggled(one, 'b', loaded)), '')
  assert.equal(ids(extended(one, 'd', loaded)), 'bcd')
  assert.equal(ids(extended(one, 'a', loaded)), 'ab')
  assert.equal(ids(extended(nothing, 'c', loaded)), 'c', 'without an anchor')
  assert.equal(extended(one, 'z', loaded), one, 'a row that is not loaded was selected')
  const all = everything(loaded, true)
  assert.equal(all.all, true)
  assert.deepEqual([ids(toggled(all, 'c', loaded)), toggled(all, 'c', loaded).all], ['abd', false], 'all but one')
  assert.equal(ids(toggled(all, 'c', [...loaded, 'e'])), 'abde', 'rows that were loaded later are selected, too')
  assert.equal(ids(extended(all, 'e', [...loaded, 'e'])), 'abcde')
})

test('npm run check refuses import circles and long lines', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatherkit-check-'))
  t.after(() => rmSync(folder, { recursive: true }))
  // check returns the errors for a folder with these files.
  const check = (files) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text)
    const { status, stderr } = spawnSync('node', ['../check.mjs', folder], { cwd: path.join(web, 'dashboard'), encoding: 'utf8' })
    assert.equal(status, stderr ? 1 : 0, stderr)
    return stderr
  }
  const leaf = { 'b.tsx': 'export const b = 1\nexport type B = 1\n' }
  assert.equal(check({ ...leaf, 'a.ts': 'import { b } from "./b"\nexport const a = b\n', 'long.css': `${'x'.repeat(140)}\n` }), '')
  for (const back of [
    'import { a } from "./a"',
    'import "./a"',
    'import type { A } from "./a"',
    'export type { A } from "./a"',
    'export * from "./a"',
    'export type B = import("./a").A',
    'export const page = () => import("./a")',
    'export { c } from "./c"',
  ]) {
    assert.match(check({ 'b.tsx': back, 'c.ts': 'import "./a"\nexport const c = 1\n' }), /circle: .*a\.ts → .*b\.tsx → .*a\.ts/, back)
  }
  assert.match(check({ ...leaf, 'long.css': `x\n${'x'.repeat(141)}\n` }), /long\.css:2 has 141 characters/)
})

test('pickers and the palette ignore what searches ignore', () => {
  const same = JSON.parse(readFileSync(new URL('../../internal/search/testdata/same.json', import.meta.url), 'utf8'))
  for (const [first, ...others] of same) {
    for (const other of others) assert.equal(units.searchable(other), units.searchable(first), `${other} and ${first}`)
  }
  assert.ok(units.searchable('Οδοστρώματα').startsWith(units.searchable('ΟΔΟΣ')))
  assert.notEqual(units.searchable('и'), units.searchable('к'))
})

test('the palette forgives one typing error in a word', () => {
  for (const typed of ['inbox', 'inb', 'imbox', 'inox', 'innbox', 'inbxo', 'nibox', 'xnbox', 'inbp']) assert.ok(units.begins('inbox', typed), typed)
  for (const typed of ['inx', 'imvox', 'boxin', 'inboxes', 'xbox', 'nbx']) assert.ok(!units.begins('inbox', typed), typed)
})

test('an e-mail address can be written in several ways', () => {
  for (const other of ['ADA@Bücher.example', 'ada@xn--bcher-kva.example ', 'ada@bu\u0308cher.example']) {
    assert.equal(units.foldEmail(other), units.foldEmail('ada@bücher.example'))
  }
  assert.notEqual(units.foldEmail('ada@bucher.example'), units.foldEmail('ada@bücher.example'))
  assert.equal(units.foldEmail('Ada'), 'ada')
})

test('a text is not cut within what people see as one character', () => {
  assert.equal(units.cut('abc', 3), 'abc')
  assert.equal(units.cut('abcd', 3), 'abc')
  assert.equal(units.cut('🇩🇪'.repeat(70), 79), '🇩🇪'.repeat(39))
  assert.equal(units.cut('ab👩‍👩‍👧', 6), 'ab')
  assert.equal(units.cut('ab👩‍👩‍👧', 7), 'ab👩‍👩‍👧')
  assert.equal(units.cut('a' + '\u0301'.repeat(100), 4), 'a\u0301\u0301\u0301')
  assert.equal(units.cut('😀'.repeat(3), 2), '😀😀')
})
