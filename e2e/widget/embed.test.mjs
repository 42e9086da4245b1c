// The starters in docs/examples/embed, each with the real framework.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { addApp, recorded, soon, start, stored, widget } from './harness.mjs'

const folder = path.resolve('../docs/examples/embed')
const clients = path.resolve('../clients/react')
const modules = createRequire(path.resolve('package.json'))
const { build } = createRequire(path.resolve('../web/widget/package.json'))('esbuild')

const noise = (complaint) => /^console: (Sent: |Angular is running in development mode|.*React DevTools)|favicon\.ico/.test(complaint)

// begin starts a site, and returns the text of a starter with the address of the service and the key of an app.
async function begin(t) {
  const app = await addApp()
  const made = await start(t)
  const read = (file) => readFileSync(path.join(folder, file), 'utf8')
    .replaceAll('https://feedback.example.com', made.relay.url).replaceAll('gk_…', app.key)
  return { app, read, ...made }
}

// bundle returns the code of an entry that imports starters by their names.
async function bundle(contents, read, { from = '.', alias = {} } = {}) {
  const resolveDir = path.resolve(from)
  const starters = {
    name: 'starters',
    setup(on) {
      on.onResolve({ filter: /^starter:/ }, ({ path }) => ({ path: path.slice('starter:'.length), namespace: 'starter' }))
      on.onLoad({ filter: /./, namespace: 'starter' }, async ({ path: file }) => {
        const source = read(file)
        if (file.endsWith('.vue')) return { contents: vue(source), loader: 'ts', resolveDir }
        if (file.endsWith('.svelte')) return { contents: modules('svelte/compiler').compile(source, { generate: 'client' }).js.code, resolveDir }
        return { contents: source, loader: file.endsWith('x') ? 'tsx' : 'ts', resolveDir }
      })
    },
  }
  const { outputFiles } = await build({
    stdin: { contents, resolveDir, loader: 'tsx' }, bundle: true, write: false, format: 'esm',
    jsx: 'automatic', conditions: ['browser'], alias, plugins: [starters], logLevel: 'error', target: 'es2022',
    define: {
      'process.env.NODE_ENV': '"development"',
      __VUE_OPTIONS_API__: 'false', __VUE_PROD_DEVTOOLS__: 'false', __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false, jsx: 'react-jsx' } },
  })
  return { html: outputFiles[0].text, type: 'text/javascript' }
}

function vue(source) {
  const { parse, compileScript } = modules('@vue/compiler-sfc')
  return compileScript(parse(source).descriptor, { id: 'app', inlineTemplate: true }).content
}

const shell = (script) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Acme</title><link rel="icon" href="data:,"></head>` +
  `<body><h1>Acme</h1><div id="root"></div><app-feedback></app-feedback><script type="module" src="${script}"></script></body></html>`

// send opens the panel with the page's button, or with the widget's own, and sends an idea.
async function send(tab, app, title, button = 'Ideas?') {
  const w = widget(tab)
  if (button) await tab.getByRole('button', { name: button, exact: true }).click()
  else await w.launcher.click()
  await w.title.waitFor()
  await w.submit(title)
  await w.sent.waitFor()
  await w.close.click()
  await w.dialog.waitFor({ state: 'hidden' })
  assert.equal(await tab.locator('gatherkit-widget').count(), 1)
  assert.ok((await stored(app)).some((request) => request.title === title), `${title} is not stored`)
}

const tested = new Set()

function starter(file, name, run) {
  tested.add(file)
  test(`${file}: ${name}`, async (t) => {
    const made = await begin(t)
    await run(made)
    assert.deepEqual(made.complaints.filter((one) => !noise(one)), [])
  })
}

starter('plain.html', 'a page without a framework', async ({ app, read, pages, visit }) => {
  pages['/'] = read('plain.html')
  const tab = await visit('/')
  await send(tab, app, 'Plain')
  assert.equal((await stored(app))[0].metadata.plan, 'pro')
})

for (const [version, from] of [['18', '.'], ['19', clients]]) {
  starter('react.tsx', `React ${version}`, async ({ app, read, pages, visit }) => {
    const alias = { '@gatherkit/react': path.join(clients, 'src/gatherkit') }
    for (const name of ['react', 'react-dom']) alias[name] = path.resolve(from, 'node_modules', name)
    pages['/main.js'] = await bundle('import "starter:react.tsx"', read, { from, alias })
    pages['/'] = shell('/main.js')
    await send(await visit('/'), app, `React ${version}`)
  })
}

starter('layout.tsx', 'a document that React hydrates', async ({ app, read, pages, visit }) => {
  const page = 'import Layout from "starter:layout.tsx"\nexport const page = <Layout><h1>Acme</h1><button className="feedback">Ideas?</button>' +
    '<script type="module" src="/hydrate.js" /></Layout>\n'
  const server = await bundle(`${page}import { renderToString } from "react-dom/server"\nexport const html = renderToString(page)`, read)
  const { html } = await import(`data:text/javascript;base64,${Buffer.from(server.html).toString('base64')}`)
  pages['/'] = `<!doctype html>${html}`
  pages['/hydrate.js'] = await bundle(`${page}import { hydrateRoot } from "react-dom/client"\nhydrateRoot(document, page)`, read)
  const tab = await visit('/')
  await send(tab, app, 'Hydrated')
  await tab.reload()
  await send(tab, app, 'Hydrated again')
})

for (const [file, name, entry] of [
  ['App.vue', 'Vue 3', `import { createApp } from 'vue'\nimport App from 'starter:App.vue'
    const app = createApp(App)\napp.mount('#root')\nwindow.end = () => app.unmount()`],
  ['App.svelte', 'Svelte 5', `import { mount, unmount } from 'svelte'\nimport App from 'starter:App.svelte'
    const app = mount(App, { target: document.querySelector('#root') })\nwindow.end = () => unmount(app)`],
  ['angular.ts', 'Angular', `import '@angular/compiler'\nimport { provideZonelessChangeDetection } from '@angular/core'
    import { bootstrapApplication } from '@angular/platform-browser'\nimport { Feedback } from 'starter:angular.ts'
    const ready = bootstrapApplication(Feedback, { providers: [provideZonelessChangeDetection()] })
    window.end = async () => (await ready).destroy()`],
]) {
  starter(file, name, async ({ app, read, pages, visit }) => {
    pages['/main.js'] = await bundle(entry, read)
    pages['/'] = shell('/main.js')
    const tab = await visit('/')
    await send(tab, app, name)
    assert.equal((await stored(app))[0].metadata.plan, 'pro')
    await tab.evaluate(() => window.end())
    await soon('the widget disappears', async () => (await tab.locator('gatherkit-widget').count()) === 0)
  })
}

// stays checks that the widget stays, with what was typed, when somebody follows a link without loading the page again.
async function stays(tab, app) {
  const w = widget(tab)
  await tab.evaluate(() => (window.loadedOnce = true))
  await w.launcher.waitFor()
  await tab.getByRole('button', { name: 'Ideas?', exact: true }).click()
  await w.title.fill('Typed before')
  await w.close.click()
  await tab.getByRole('link', { name: 'Next page' }).click()
  await tab.getByRole('heading', { name: 'Next', exact: true }).waitFor()
  assert.equal(await tab.evaluate(() => window.loadedOnce), true, 'the page was loaded again')
  await w.launcher.waitFor()
  await tab.getByRole('button', { name: 'Ideas?', exact: true }).click()
  assert.equal(await w.title.inputValue(), 'Typed before')
  await w.close.click()
  await send(tab, app, 'After a visit')
  assert.equal((await recorded(tab, 'ready')).length, 1)
}

starter('turbo.html', 'Turbo 8', async ({ app, read, pages, visit }) => {
  pages['/turbo.js'] = await bundle('import "@hotwired/turbo"', read)
  pages['/'] = read('turbo.html')
  pages['/next'] = read('turbo.html').replace('<h1>Acme</h1>', '<h1>Next</h1>')
  await stays(await visit('/'), app)
})

starter('Layout.astro', 'Astro with view transitions', async ({ app, read, pages, visit }) => {
  const site = mkdtempSync(path.join(tmpdir(), 'gatherkit-astro-'))
  try {
    mkdirSync(path.join(site, 'src/pages'), { recursive: true })
    symlinkSync(path.resolve('node_modules'), path.join(site, 'node_modules'))
    writeFileSync(path.join(site, 'package.json'), '{"type": "module"}')
    writeFileSync(path.join(site, 'astro.config.mjs'), 'export default { vite: { resolve: { preserveSymlinks: true } } }')
    writeFileSync(path.join(site, 'src/Layout.astro'), read('Layout.astro'))
    for (const [file, heading] of [['index', 'Acme'], ['next', 'Next']]) {
      writeFileSync(path.join(site, `src/pages/${file}.astro`), `---\nimport Layout from '../Layout.astro'\n---\n` +
        `<Layout><h1>${heading}</h1><a href="/next/">Next page</a><button type="button" class="feedback">Ideas?</button></Layout>\n`)
    }
    execFileSync('node', [modules.resolve('astro/package.json').replace('package.json', 'astro.js'), 'build', '--root', site], {
      env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' }, encoding: 'utf8',
    })
    const dist = path.join(site, 'dist')
    for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())) {
      const file = path.join(entry.parentPath, entry.name)
      const address = '/' + path.relative(dist, file).replace(/index\.html$/, '')
      pages[address] = file.endsWith('.js') ? { html: readFileSync(file, 'utf8'), type: 'text/javascript' } : readFileSync(file, 'utf8')
    }
  } finally {
    rmSync(site, { recursive: true })
  }
  await stays(await visit('/'), app)
})

starter('tag-manager.html', 'a tag manager', async ({ app, read, pages, visit }) => {
  const [, code] = read('tag-manager.html').match(/<script>([^]*)<\/script>/)
  pages['/'] = shell('data:text/javascript,')
  const tab = await visit('/')
  await tab.evaluate((text) => document.body.append(Object.assign(document.createElement('script'), { text })), code)
  await send(tab, app, 'Managed', '')
})

starter('strict-csp.html', 'a strict policy', async ({ app, read, pages, visit }) => {
  pages['/'] = read('strict-csp.html')
  await send(await visit('/'), app, 'Strict')
})

test('each starter is short, and has a test and a link', () => {
  const files = readdirSync(folder)
  assert.deepEqual([...tested].sort(), files.sort())
  const docs = readFileSync('../docs/widget.md', 'utf8')
  for (const file of files) {
    assert.ok(readFileSync(path.join(folder, file), 'utf8').split('\n').length <= 40, `${file} is too long`)
    assert.ok(docs.includes(`](examples/embed/${file})`), `docs/widget.md does not link ${file}`)
  }
})
