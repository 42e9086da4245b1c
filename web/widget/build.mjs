// Builds dist, and fails when the widget weighs more than it may.
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, transform } from 'esbuild'

process.chdir(import.meta.dirname)

/** Bytes of gzip -9: of what a page loads by itself, and of all but further languages. */
const budget = { first: 9000, all: 12000 }

const locales = (await readdir('src/locales')).map((file) => path.parse(file).name).filter((name) => name !== 'en').sort()
const catalogues = await Promise.all(locales.map((name) => readFile(`src/locales/${name}.json`)))

const css = {
  name: 'css',
  setup(on) {
    on.onLoad({ filter: /\.css$/ }, async ({ path }) => ({
      contents: (await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true })).code.trim(),
      loader: 'text',
    }))
  },
}
const common = { bundle: true, minify: true, target: 'es2022', charset: 'utf8', legalComments: 'none', plugins: [css], logLevel: 'warning' }

await rm('dist', { recursive: true, force: true })
await mkdir('dist/widget/locales', { recursive: true })
await build({ ...common, entryPoints: ['src/extras.ts'], format: 'esm', outdir: 'dist/widget' })
const extras = await readFile('dist/widget/extras.js')
const version = createHash('sha256').update(Buffer.concat([extras, ...catalogues])).digest('hex').slice(0, 8)
const define = { LOCALES: JSON.stringify(locales), VERSION: JSON.stringify(version) }
await build({ ...common, define, entryPoints: ['src/widget.ts'], format: 'iife', outfile: 'dist/widget.js' })
await build({ ...common, define, entryPoints: ['src/esm.ts'], format: 'esm', outfile: 'dist/widget.mjs' })
await cp('src/public.d.ts', 'dist/widget.d.ts')
for (const [i, name] of locales.entries()) await writeFile(`dist/widget/locales/${name}.json`, JSON.stringify(JSON.parse(catalogues[i])))

const weigh = async (file) => gzipSync(await readFile(`dist/${file}`), { level: 9 }).length
const [script, module, part] = await Promise.all(['widget.js', 'widget.mjs', 'widget/extras.js'].map(weigh))
const first = Math.max(script, module)
const weights = { first, all: first + part }
for (const [name, weight] of Object.entries(weights)) {
  console.log(`${name}: ${weight} of ${budget[name]} bytes`)
  if (weight > budget[name]) {
    console.error(`The widget weighs too much.`)
    process.exitCode = 1
  }
}
