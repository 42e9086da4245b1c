declare module '*.css' {
  const text: string
  export default text
}

/** The languages that have a catalogue; the build fills it in. */
declare const LOCALES: string[]
/** Changes with what is loaded later, so that none of it comes stale from a cache; the build fills it in. */
declare const VERSION: string
