/**
 * What is loaded when it is needed: what sends, files, similar requests, votes. An idea
 * can be written and kept without. It gets what it needs of the rest as arguments, so
 * that no code is loaded twice.
 */
import type { Call, failure } from './api'
import type { Picker } from './attachments'
import type { Config } from './config'
import type { h, icon } from './dom'
import type { Emit } from './events'
import type { Post } from './outbox'
import type { list, put, remove } from './shelf'
import type { Similar } from './similar'
import type { voter } from './storage'
import type { Catalogue, Translate } from './strings'
import type { Votes } from './votes'

/** What the extras get of the widget. */
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

/** What sending needs. */
export interface SenderTools extends Post {
  failure: typeof failure
  list: typeof list
  put: typeof put
  remove: typeof remove
  /** Does something in one tab at a time. */
  alone<T>(work: () => Promise<T>): Promise<T>
}

export interface Sender {
  /** Sends what is due; eagerly also what only waits because a try has failed. */
  flush(eager: boolean): void
  stop(): void
}

export interface Extras {
  css: string
  english: Catalogue
  createPicker(tools: Tools): Picker
  createSimilar(tools: Tools, votes: Votes): Similar
  createVotes(tools: Tools): Votes
  createSender(tools: SenderTools): Sender
}

let loaded: Promise<Extras> | undefined
let tries = 0

export function loadExtras(base: string): Promise<Extras> {
  // Browsers remember a failure by its address, so that another try needs another.
  return loaded ??= import(`${base}widget/extras.js?${VERSION}${tries++}`).then(({ default: extras }) => extras, (error) => {
    loaded = undefined
    throw error
  })
}
