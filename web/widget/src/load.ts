import type extras from './extras'
import type mine from './mine'
import type news from './news'
import { once } from './once'
import { learn } from './strings'

interface Scripts {
  /** Sending, files, similar requests and votes. */
  extras: typeof extras
  /** The person's own ideas. */
  mine: typeof mine
  /** What is new in the app. */
  news: typeof news
}

let tries = 0

/** Loads what is not needed to write and save an idea, and returns undefined if that fails. */
export function load<K extends keyof Scripts>(base: string, name: K): Promise<Scripts[K] | undefined> {
  return once(name, async () => {
    // Browsers cache a failed import by its URL, so each try has a new URL.
    const { default: all } = await import(`${base}widget/${name}.js?${VERSION}${tries++}`)
    learn(all.english)
    return all
  })
}
