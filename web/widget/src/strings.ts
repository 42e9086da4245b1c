import { answer } from './api'
import english from './locales/en.json'
import { once } from './once'

export type Name = keyof typeof english
export type Catalogue = Partial<Record<Name, string>>
/** Returns a text with its {…} filled in. */
export type Translate = (name: Name, values?: Record<string, string | number>) => string

/** The English texts. The extras add theirs. */
const texts: Catalogue = { ...english }

export function learn(more: Catalogue): void {
  Object.assign(texts, more)
}

/** The catalogue of a language, or nothing if there is none. Then English applies. */
async function catalogue(base: string, language = ''): Promise<Catalogue | undefined> {
  if (!RegExp(LOCALES).test(language)) return
  const url = `${base}widget/locales/${language}.json?${VERSION}`
  return once(url, () => answer<Catalogue>(url, 'lang', { signal: AbortSignal.timeout(4000) }))
}

export async function translator(base: string, locale: string, own: Catalogue = {}): Promise<Translate> {
  const translated = { ...(await catalogue(base, `${locale}`.toLowerCase().match(/[a-z]+/)?.[0])), ...own }
  return (name, values = {}) => (translated[name] ?? texts[name]!).replace(/{(\w+)}/g, (_, key) => values[key] as string)
}
