// Builds dist, or the given folder, and fails if the widget is too large.
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, transform } from 'esbuild'
import { minify } from 'terser'

const dist = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, 'dist'))
process.chdir(import.meta.dirname)

// The limits in gzipped bytes: for the script that a page loads, and for those that it loads later.
const budget = { first: 8900, extras: 6150, mine: 3850, news: 2550 }

const locales = (await readdir('src/locales')).map((file) => path.parse(file).name).filter((name) => name !== 'en').sort()
const catalogs = await Promise.all(locales.map((name) => readFile(`src/locales/${name}.json`, 'utf8')))

const css = {
  name: 'css',
  setup(on) {
    on.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true })
      return { contents: code.trim().replace(/(--\w+:|,) /g, '$1'), loader: 'text' }
    })
  },
}

// Each script contains the English texts that it needs.
const texts = {
  extras: /^(files|similar|voted?$|unvoted|vote_|identity|outbox_full|too_old)/,
  mine: /^mine/,
  news: /^(news_|mine_(loading|failed|again|votes_.*)$)/,
}
const needs = (script, text) => texts[script]?.test(text) ?? !Object.values(texts).some((pattern) => pattern.test(text))
const english = (script) => ({
  name: 'english',
  setup(on) {
    on.onLoad({ filter: /\/en\.json$/ }, async ({ path }) => {
      const all = Object.entries(JSON.parse(await readFile(path, 'utf8')))
      const needed = all.filter(([name]) => needs(script, name))
      return { contents: JSON.stringify(Object.fromEntries(needed)), loader: 'json' }
    })
  },
})

// bundle writes a script. terser comes last, because it saves another 3 %.
async function bundle(entry, file, format, define = {}) {
  const { outputFiles } = await build({
    entryPoints: [`src/${entry}.ts`], bundle: true, minifySyntax: true, minifyWhitespace: true, write: false, format, define,
    target: 'es2022', charset: 'utf8', plugins: [css, english(entry in budget ? entry : 'first')], logLevel: 'warning',
  })
  const compress = { passes: 3, hoist_props: false, reduce_funcs: entry in budget, sequences: false }
  const { code } = await minify(outputFiles[0].text, { ecma: 2020, module: true, compress, format: { comments: false } })
  await writeFile(path.join(dist, file), code)
  return { code, weight: gzipSync(code, { level: 9 }).length }
}

await rm(dist, { recursive: true, force: true })
await mkdir(path.join(dist, 'widget/locales'), { recursive: true })
const extras = await bundle('extras', 'widget/extras.js', 'esm')
const mine = await bundle('mine', 'widget/mine.js', 'esm')
const news = await bundle('news', 'widget/news.js', 'esm')
const version = createHash('sha256').update(extras.code + mine.code + news.code + catalogs.join('')).digest('hex').slice(0, 8)
const define = { LOCALES: JSON.stringify(`^(${locales.join('|')})$`), VERSION: JSON.stringify(version) }
const script = await bundle('widget', 'widget.js', 'iife', define)
const module = await bundle('esm', 'widget.mjs', 'esm', define)
await cp('src/public.d.ts', path.join(dist, 'widget.d.ts'))
for (const [i, name] of locales.entries()) {
  await writeFile(path.join(dist, 'widget/locales', `${name}.json`), JSON.stringify(JSON.parse(catalogs[i])))
}

const first = Math.max(script.weight, module.weight)
for (const [name, weight] of Object.entries({ first, extras: extras.weight, mine: mine.weight, news: news.weight })) {
  console.log(`${name}: ${weight} of ${budget[name]} bytes`)
  if (weight > budget[name]) throw new Error('The widget is too large.')
}

// The scripts of the demo page, the dashboard's preview, the page /mine and portals. They are not part of the widget.
const portal = '../../internal/portal'
const others = [['../demo', 'demo', 'esm'], ['../preview', 'preview', 'iife'], [portal, 'mine', 'iife'], [portal, 'portal', 'iife']]
for (const [folder, name, format] of others) {
  await build({
    entryPoints: [`${folder}/${name}.ts`], outfile: `${folder}/dist/${name}.js`, bundle: true, minify: true, format,
    target: 'es2022', charset: 'utf8', logLevel: 'warning',
  })
}
