/** The widget as a script tag. */
import type { BootOptions } from './public'
import { install } from './queue'

// A script that runs inline has no address, and one that another script runs has no tag.
const { src, dataset } = document.currentScript as HTMLScriptElement ?? {}
install(src && new URL('.', src).href, dataset as unknown as BootOptions ?? {})
