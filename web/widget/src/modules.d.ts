declare module '*.css' {
  const text: string
  export default text
}

/** A pattern of the languages that have a catalog. The build sets it. */
declare const LOCALES: string
/** Changes with the files that are loaded later, so that caches do not serve old ones. The build sets it. */
declare const VERSION: string
