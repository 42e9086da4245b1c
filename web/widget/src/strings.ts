import english from './locales/en.json'

export type Name = keyof typeof english
export type Catalogue = Partial<Record<Name, string>>
/** The text of a name, with {…} filled in. */
export type Translate = (name: Name, values?: Record<string, string | number>) => string

/** The English texts; the extras bring theirs. */
const texts: Catalogue = { ...english }

export function learn(more: Catalogue): void {
  Object.assign(texts, more)
}

const loaded = new Map<string, Catalogue>()

/** The catalogue of a language; English where there is none or it cannot be had. */
async function catalogue(base: string, language: string): Promise<Catalogue> {
  if (!LOCALES.includes(language)) return {}
  const url = `${base}widget/locales/${language}.json?${VERSION}`
  try {
    if (!loaded.has(url)) {
      const response = await fetch(url, { credentials: 'omit', signal: AbortSignal.timeout(4000) })
      if (response.ok) loaded.set(url, await response.json())
    }
  } catch {
    // Whoever wants to write need not wait for words.
  }
  return loaded.get(url) ?? {}
}

export async function translator(base: string, locale: string, own: Catalogue = {}): Promise<Translate> {
  const translated = { ...(await catalogue(base, locale.toLowerCase().split('-')[0]!)), ...own }
  return (name, values = {}) => (translated[name] ?? texts[name]!).replace(/{(\w+)}/g, (_, key) => String(values[key]))
}
