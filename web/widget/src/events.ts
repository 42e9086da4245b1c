import type { Events } from './public'

/** Sends an event to the page, with the app's key added. */
export type Emit = <K extends keyof Events>(type: K, detail: Omit<Events[K], 'key'>) => void
