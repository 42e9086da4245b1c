import type extras from './extras'

let loaded: Promise<typeof extras> | undefined
let tries = 0

/** Loads what is not needed to write and save an idea: sending, files, similar requests, votes. */
export function loadExtras(base: string): Promise<typeof extras> {
  // Browsers cache a failed import by its URL, so each try has a new URL.
  return loaded ??= import(`${base}widget/extras.js?${VERSION}${tries++}`).then(({ default: all }) => all, (error) => {
    loaded = undefined
    throw error
  })
}
