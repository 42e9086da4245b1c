import english from './locales/en.json'

export type Name = keyof typeof english
export type Catalogue = Partial<Record<Name, string>>
/** Returns a text with its {…} filled in. */
export type Translate = (name: Name, values?: Record<string, string | number>) => string

/** The English texts. The extras add theirs. */
const texts: Catalogue = { ...english }

export function learn(more: Catalogue): void {
  Object.assign(texts, more)
}

const loaded = new Map<string, Catalogue>()

/** The catalogue of a language. It is empty, so that English applies, if there is none. */
async function catalogue(base: string, language: string): Promise<Catalogue> {
  if (!LOCALES.includes(language)) return {}
  const url = `${base}widget/locales/${language}.json?${VERSION}`
  try {
    if (!loaded.has(url)) {
      const response = await fetch(url, { credentials: 'omit', signal: AbortSignal.timeout(4000) })
      if (response.ok) loaded.set(url, await response.json())
    }
  } catch {
    // The form opens in English.
  }
  return loaded.get(url) ?? {}
}

export async function translator(base: string, locale: string, own: Catalogue = {}): Promise<Translate> {
  const translated = { ...(await catalogue(base, locale.toLowerCase().split('-')[0]!)), ...own }
  return (name, values = {}) => (translated[name] ?? texts[name]!).replace(/{(\w+)}/g, (_, key) => String(values[key]))
}
