/** The widget as a script tag. */
import type { BootOptions } from './public'
import { install } from './queue'

const script = document.currentScript as HTMLScriptElement | null
if (script) install(new URL('.', script.src).href, script.dataset as unknown as BootOptions)
