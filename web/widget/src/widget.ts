/** The widget as a script tag. */
import type { BootOptions } from './public'
import { install } from './queue'

// A script that runs inline has no address, one that another script runs has no tag, and one from a blob: or data: URL
// does not come from the service.
const { src, dataset } = document.currentScript as HTMLScriptElement ?? {}
install(src?.[0] == 'h' ? new URL('.', src).href : '', dataset as unknown as BootOptions ?? {})
