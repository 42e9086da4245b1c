/**
 * What the extras get of the widget: they are loaded when they are needed, and what they
 * share with the rest comes as arguments, so that no code is loaded twice.
 */
import type { Call, failure } from './api'
import type { Config } from './config'
import type { h, icon } from './dom'
import type { Emit } from './events'
import type { Entry, list, Outcome, put, remove } from './shelf'
import type { voter } from './storage'
import type { Translate } from './strings'

/** What files, similar requests and votes need. */
export interface Tools {
  h: typeof h
  icon: typeof icon
  voter: typeof voter
  t: Translate
  call: Call
  config: Config
  /** Says a sentence to those who listen to the page. */
  say(text: string): void
  /** The token of the person who uses the page, if there is one. */
  token(fresh: boolean): Promise<string | undefined>
  emit: Emit
  failed(error: unknown): void
}

/** What the outbox needs. */
export interface OutboxTools {
  app: string
  base: string
  call: Call
  /** The token in whose name to send; `fresh` when the one before does not do any more. */
  token(entry: Entry, fresh: boolean): Promise<string | undefined>
  /** Tells what became of an idea, whichever tab it was sent by. */
  tell(id: string, outcome: Outcome): void
  emit: Emit
  failed(error: unknown, id: string): void
}

/** What sending needs. */
export interface SenderTools extends OutboxTools {
  failure: typeof failure
  list: typeof list
  put: typeof put
  remove: typeof remove
  /** Does something in one tab at a time. */
  alone<T>(work: () => Promise<T>): Promise<T>
}
