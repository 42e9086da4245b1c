/**
 * What the extras need of the widget. They get it as arguments, so that their script, which
 * is loaded later, does not contain the same code again.
 */
import type { Call, failure } from './api'
import type { Config } from './config'
import type { h, icon } from './dom'
import type { Emit } from './events'
import type { Entry, list, Outcome, put, remove } from './entries'
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
  /** Announces a text to screen readers. */
  say(text: string): void
  /** The identity token, if there is one. */
  token(fresh: boolean): Promise<string | undefined>
  emit: Emit
  failed(error: unknown): void
}

/** What the outbox needs. */
export interface OutboxTools {
  app: string
  base: string
  call: Call
  /** The token of the idea's author. `fresh` is set if the previous one was refused. */
  token(entry: Entry, fresh: boolean): Promise<string | undefined>
  /** Reports the outcome of an idea to all tabs. */
  tell(id: string, outcome: Outcome): void
  /** Reports the ideas in the outbox, at the start and after each outcome. */
  left(entries: Entry[]): void
  emit: Emit
  failed(error: unknown, id: string): void
}

/** What sending needs. */
export interface SenderTools extends OutboxTools {
  failure: typeof failure
  list: typeof list
  put: typeof put
  remove: typeof remove
  /** Runs work in one tab at a time. */
  alone<T>(work: () => Promise<T>): Promise<T>
}
