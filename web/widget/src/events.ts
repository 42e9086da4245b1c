import type { Events } from './public'

/** Tells the page of an event; the app's key is added. */
export type Emit = <K extends keyof Events>(type: K, detail: Omit<Events[K], 'key'>) => void
