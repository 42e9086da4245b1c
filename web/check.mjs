// Refuses import circles, including those of types only, and long lines in the given files and
// folders.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const longest = 140
const ts = createRequire(path.resolve('package.json'))('typescript')
const options = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
const texts = new Map() // file → its text

for (const name of process.argv.slice(2)) {
  const names = statSync(name).isDirectory() ? readdirSync(name, { recursive: true }).map((file) => path.join(name, file)) : [name]
  for (const file of names) if (/\.(tsx?|css|mjs)$/.test(file)) texts.set(path.resolve(file), readFileSync(file, 'utf8'))
}
if (texts.size === 0) throw new Error('No files to check.')

function refuse(problem) {
  console.error(problem)
  process.exitCode = 1
}

// importsOf returns the files that a file imports in any way.
function importsOf(file) {
  const names = []
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) names.push(node.moduleSpecifier)
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) names.push(node.arguments[0])
    if (ts.isImportTypeNode(node)) names.push(node.argument.literal)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, texts.get(file), ts.ScriptTarget.Latest))
  return names
    .filter((name) => name && ts.isStringLiteral(name))
    .map(({ text }) => ts.resolveModuleName(text, file, options, ts.sys).resolvedModule?.resolvedFileName)
    .filter((found) => texts.has(found))
}

const done = new Set()
function findCircles(file, way = []) {
  const begin = way.indexOf(file)
  if (begin >= 0) refuse(`Imports go in a circle: ${[...way.slice(begin), file].map((step) => path.relative('.', step)).join(' → ')}`)
  if (begin >= 0 || done.has(file)) return
  for (const next of importsOf(file)) findCircles(next, [...way, file])
  done.add(file)
}

for (const [file, text] of texts) {
  if (/\.(tsx?|mjs)$/.test(file)) findCircles(file)
  if (file.endsWith('schema.ts')) continue // generated
  for (const [i, line] of text.split('\n').entries()) {
    if (line.length > longest) refuse(`${path.relative('.', file)}:${i + 1} has ${line.length} characters; the limit is ${longest}`)
  }
}
