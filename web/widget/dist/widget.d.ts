/** The public API of the widget. */

/** `auto` follows the page's `color-scheme`, and is light if the page declares none. */
export type Theme = 'auto' | 'light' | 'dark'

/** Initial values of the form. They never overwrite what the person typed. */
export interface Prefill {
  title?: string
  description?: string
  email?: string
}

/**
 * The person who uses the page. `token` is a JWT that your backend signs with the app's
 * identity secret. The widget calls `getToken` when it needs one or when it has expired.
 * The other fields are not verified.
 */
export interface Identity {
  token?: string
  getToken?: () => string | Promise<string>
  email?: string
  name?: string
  external_id?: string
}

export interface Settings {
  /** Sent with each idea: at most 8 KiB and two levels. */
  metadata?: Record<string, unknown>
  prefill?: Prefill
  /** Your own texts by their names in the catalog, such as `title`. */
  strings?: Record<string, string>
  /** A language tag such as `de`. The default is the page's `lang`. */
  locale?: string
  theme?: Theme
}

export interface BootOptions extends Settings {
  /** The app's API key. */
  key: string
  /** `none` hides the button: open the panel with a trigger or the command `open`. */
  launcher?: string
  /** A CSS selector: a click on a matching element opens the panel. */
  trigger?: string
  identity?: Identity
  /** The address of the service, if the script comes from elsewhere. */
  base?: string
}

/** Selects a widget if the page has several. */
export interface Target {
  key?: string
}

/** An idea that the service has stored. */
export interface SubmittedRequest {
  id: string
  title: string
  description: string
  status: string
  votes: number
  created_at: string
}

/**
 * `offline`: there is no network. `server`: the service does not answer, or asks to try
 * later. `key`: it does not know the API key. `identity`: it needs another identity token.
 * In these four cases, the widget keeps the idea and sends it later. `refused`: the service
 * does not accept the idea, and the person gets the text back.
 */
export type ErrorKind = 'offline' | 'server' | 'key' | 'identity' | 'refused'

/** The events. `window` also gets them as CustomEvents such as `gatherkit:ready`. */
export interface Events {
  /** The widget can be opened. */
  ready: { key: string; app_id: string }
  open: { key: string }
  close: { key: string }
  /** The browser has saved an idea. `id` is its idempotency key. */
  queued: { key: string; id: string }
  /** The service has stored an idea. */
  submit: { key: string; id: string; request: SubmittedRequest }
  vote: { key: string; request_id: string; votes: number; voted: boolean }
  /** The number of the person's ideas with unread news has changed. */
  news: { key: string; unread: number }
  /** `id` is set if the error concerns an idea. */
  error: { key: string; kind: ErrorKind; code: string; message: string; id?: string }
}

export interface GatherkitFunction {
  (command: 'boot', options: BootOptions): void
  (command: 'open', options?: Target & { prefill?: Prefill }): void
  (command: 'close', target?: Target): void
  /** Without an argument, the widget forgets the person. */
  (command: 'identify', identity?: Identity, target?: Target): void
  (command: 'set', settings: Settings, target?: Target): void
  <K extends keyof Events>(command: 'on' | 'off', event: K, listener: (detail: Events[K]) => void, target?: Target): void
  /** Removes a widget, or all widgets, with their listeners. */
  (command: 'destroy', target?: Target): void
  /** Calls from before the script has loaded. */
  q?: ArrayLike<unknown>[]
}

export declare const Gatherkit: GatherkitFunction
export default Gatherkit

declare global {
  interface Window {
    Gatherkit?: GatherkitFunction
  }
}
