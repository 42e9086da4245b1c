import { answer } from './api'
import english from './locales/en.json'
import { once } from './once'

export type Name = keyof typeof english
export type Catalog = Partial<Record<Name, string>>
/** Returns a text with its {…} filled in. */
export type Translate = (name: Name, values?: Record<string, string | number>) => string

/** The English texts. The extras add theirs. */
const texts: Catalog = { ...english }

export function learn(more: Catalog): void {
  Object.assign(texts, more)
}

/** The catalog of a language, or nothing if there is none. Then English applies. */
async function catalog(base: string, language = ''): Promise<Catalog | undefined> {
  if (!RegExp(LOCALES).test(language)) return
  const url = `${base}widget/locales/${language}.json?${VERSION}`
  return once(url, () => answer<Catalog>(url, 'lang', { signal: AbortSignal.timeout(4000) }))
}

export async function translator(base: string, locale: string, own: Catalog = {}): Promise<Translate> {
  const translated = { ...(await catalog(base, `${locale}`.toLowerCase().match(/[a-z]+/)?.[0])), ...own }
  return (name, values = {}) => (translated[name] ?? texts[name]!).replace(/{(\w+)}/g, (_, key) => values[key] as string)
}
