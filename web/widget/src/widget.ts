/** The widget as a script tag. */
import type { BootOptions } from './public'
import { install } from './queue'

const script = document.currentScript as HTMLScriptElement | null
if (script) {
  const tag = { ...script.dataset }
  install(new URL('.', script.src).href, tag.key ? (tag as unknown as BootOptions) : undefined)
}
