import type { Failure } from './api'
import { createIdeas, type Ideas } from './ideas'
import english from './locales/en.json'
import type { AppTools, Place } from './tools'

/** The ideas of one person, until the page names another one. */
export interface Mine {
  /** Asks for news if that is due, or offers the list in a panel. */
  news(place?: Place): void
  end(): void
}

/** How long to wait until the widget asks for news again. */
const pause = 300_000

function createMine(tools: AppTools): Mine {
  const { call, emit, token, reader, told, own } = tools
  let ideas: Ideas | undefined
  let offered: Place | undefined
  let unread = 0
  let asked = 0
  let timer = 0
  let ended = false

  async function ask<T>(operation: string, params: object = {}, fresh = false): Promise<T> {
    const person = { reader: reader(), identity_token: await token(fresh) }
    try {
      const result = await call<T>(operation, { ...person, ...params })
      // The answer for another person never arrives.
      return ended ? new Promise(() => {}) : result
    } catch (error) {
      if ((error as Failure).kind == 'identity' && !fresh) return ask(operation, params, true)
      throw error
    }
  }

  function tell(count: number): void {
    if (count == unread) return
    unread = count
    ideas?.mark(count)
    told(count)
    emit('news', { unread })
  }

  async function poll(): Promise<void> {
    const wait = asked + pause - Date.now()
    clearTimeout(timer)
    timer = setTimeout(own, wait > 0 ? wait : pause)
    if (wait > 0 || document.hidden) return
    asked = Date.now()
    tell((await ask<{ unread: number }>('widget-news')).unread)
  }

  return {
    news(place) {
      if (!place) {
        poll().catch(() => {}) // the widget asks again
      } else if (place != offered) {
        offered = place
        ideas = createIdeas({ ...tools, ask, tell }, place)
        ideas.mark(unread)
      }
    },
    end() {
      clearTimeout(timer)
      ideas?.remove()
      tell(0)
      ended = true
    },
  }
}

export default { english, createMine }
