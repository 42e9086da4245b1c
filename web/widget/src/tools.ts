/**
 * What the extras need of the widget. They get it as arguments, so that their script, which
 * is loaded later, does not contain the same code again.
 */
import type { Call, failure } from './api'
import type { Config } from './config'
import type { h, icon } from './dom'
import type { Emit } from './events'
import type { list, Outcome, put, remove } from './entries'
import type { keep, uuid } from './storage'
import type { Translate } from './strings'
import type { Note } from './unsent'

/** What all of them need. */
export interface AppTools {
  base: string
  h: typeof h
  icon: typeof icon
  keep: typeof keep
  uuid: typeof uuid
  call: Call
  /** The identity token, if there is one. `fresh` is set if the previous one was refused. */
  token(fresh: boolean): Promise<string | undefined>
  /** The person's reader, which is made when it is first needed. Verified people have none. */
  reader(): string | undefined
  emit: Emit
  /** Reports an error, which may concern an idea. */
  failed(error: unknown, id?: string): void
  /** Marks the launcher with the number of news. */
  told(unread: number): void
  /** Asks for news if there is a reader, or offers the list in a place. */
  own(place?: Place): void
  /** Takes note that the person has seen what is new. */
  seen(): void
}

/** What files, similar requests and votes need. */
export interface Tools extends AppTools {
  t: Translate
  config: Config
  /** Announces a text to screen readers. */
  say(text: string): void
}

/** Where a panel offers the person's own ideas. */
export interface Place extends Pick<Tools, 't' | 'say'> {
  dialog: HTMLDialogElement
  heading: HTMLElement
  /** Shows an element instead of the form. The dialog gets the event `turn` whenever what it shows can have changed. */
  show(element: HTMLElement): void
  /** Shows the form. */
  home(): void
}

/** What the outbox needs. */
export interface OutboxTools extends Pick<AppTools, 'base' | 'call' | 'token' | 'emit' | 'failed'> {
  app: string
  failure: typeof failure
  note: Note
  /** Carries the outcomes to the other tabs. */
  channel: BroadcastChannel
  /** Reports the outcome of an idea. */
  tell(id: string, outcome: Outcome): void
}

/** What sending needs. */
export interface SenderTools extends OutboxTools {
  list: typeof list
  put: typeof put
  remove: typeof remove
  /** Runs work in one tab at a time. */
  alone<T>(work: () => Promise<T>): Promise<T>
}
