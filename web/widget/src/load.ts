import type extras from './extras'

let loaded: Promise<typeof extras> | undefined
let tries = 0

/** Loads what an idea can be written and kept without: sending, files, similar requests, votes. */
export function loadExtras(base: string): Promise<typeof extras> {
  // Browsers remember a failure by its address, so that another try needs another.
  return loaded ??= import(`${base}widget/extras.js?${VERSION}${tries++}`).then(({ default: all }) => all, (error) => {
    loaded = undefined
    throw error
  })
}
