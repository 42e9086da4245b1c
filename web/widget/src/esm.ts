/** The widget as a module: `import Gatherkit from '…/widget.mjs'`. */
import type * as Public from './public'
import { install } from './queue'

export const Gatherkit: typeof Public.Gatherkit = install(import.meta.url[0] == 'h' ? new URL('.', import.meta.url).href : '')
export default Gatherkit
