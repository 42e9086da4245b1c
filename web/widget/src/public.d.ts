/** What a page may say to the widget, and what the widget tells the page. */

/** `page` follows the page's own `color-scheme`, `auto` the system. */
export type Theme = 'auto' | 'light' | 'dark' | 'page'

/** What the form holds when it is opened empty; a person's own text always wins. */
export interface Prefill {
  title?: string
  description?: string
  email?: string
}

/**
 * Who uses the page. A token is a JWT that your backend signs with the app's identity
 * secret; `getToken` is asked for one when it is needed or has expired. The other
 * fields are taken as they are, unverified.
 */
export interface Identity {
  token?: string
  getToken?: () => string | Promise<string>
  email?: string
  name?: string
  external_id?: string
}

export interface Settings {
  /** Sent along with each idea: at most 8 KiB and two levels. */
  metadata?: Record<string, unknown>
  prefill?: Prefill
  /** Texts of your own by their name in the catalogue, such as `title`. */
  strings?: Record<string, string>
  /** A language tag such as `de`; the page's `lang` is the default. */
  locale?: string
  theme?: Theme
}

export interface BootOptions extends Settings {
  /** The app's API key. */
  key: string
  /** `none` shows no button: open the panel with a trigger or the command `open`. */
  launcher?: string
  /** A selector: a click on what it matches opens the panel. */
  trigger?: string
  identity?: Identity
  /** The service's address, where the script does not come from there. */
  base?: string
}

/** Which widget a command is for, where a page has several. */
export interface Target {
  key?: string
}

/** What the service says of an idea that it has stored. */
export interface SubmittedRequest {
  id: string
  title: string
  description: string
  status: string
  votes: number
  created_at: string
}

/**
 * `offline`: there is no network. `server`: the service does not answer, or not now.
 * `key`: it does not know the API key. `identity`: it wants another identity token.
 * Ideas wait over these four. `refused`: it does not take this; the person gets the
 * text back.
 */
export type ErrorKind = 'offline' | 'server' | 'key' | 'identity' | 'refused'

/** The events; on window they are CustomEvents named `gatherkit:ready` and so on. */
export interface Events {
  /** The widget can be opened. */
  ready: { key: string; app_id: string }
  open: { key: string }
  close: { key: string }
  /** An idea is in the outbox; `id` is its idempotency key. */
  queued: { key: string; id: string }
  /** The service has stored an idea. */
  submit: { key: string; id: string; request: SubmittedRequest }
  vote: { key: string; request_id: string; votes: number; voted: boolean }
  /** `id` is that of the idea, if it is about one. */
  error: { key: string; kind: ErrorKind; code: string; message: string; id?: string }
}

export interface GatherkitFunction {
  (command: 'boot', options: BootOptions): void
  (command: 'open', options?: Target & { prefill?: Prefill }): void
  (command: 'close', target?: Target): void
  /** Without an argument the page forgets who uses it. */
  (command: 'identify', identity?: Identity, target?: Target): void
  (command: 'set', settings: Settings, target?: Target): void
  <K extends keyof Events>(command: 'on' | 'off', event: K, listener: (detail: Events[K]) => void, target?: Target): void
  /** Removes the widget, or all of them, and their listeners. */
  (command: 'destroy', target?: Target): void
  /** Calls made before the script was there. */
  q?: ArrayLike<unknown>[]
}

export declare const Gatherkit: GatherkitFunction
export default Gatherkit

declare global {
  interface Window {
    Gatherkit?: GatherkitFunction
  }
}
