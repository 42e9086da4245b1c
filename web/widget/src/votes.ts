import type { Failure } from './api'
import type { Tools } from './tools'

/** The result of a vote. */
export interface Ballot {
  votes: number
  voted: boolean
}

export interface Votes {
  /** Who votes, as far as the browser knows. */
  voter(): Promise<object>
  cast(request: string, remove: boolean, why: string): Promise<Ballot>
}

export function createVotes({ keep, uuid, reader, call, token, emit, failed }: Tools): Votes {
  async function send(vote: object, fresh = false): Promise<Ballot> {
    try {
      // The voter is random, so that the votes of this browser count once.
      return await call<Ballot>('widget-vote', {
        ...vote, voter: keep('voter', uuid), reader: reader(), identity_token: await token(fresh),
      })
    } catch (error) {
      if ((error as Failure).kind == 'identity' && !fresh) return send(vote, true)
      failed(error)
      throw error
    }
  }

  return {
    voter: async () => ({ voter: keep('voter', () => undefined), identity_token: await token(false) }),
    async cast(request, remove, why) {
      const ballot = await send({ request_id: request, remove, why })
      emit('vote', { request_id: request, ...ballot })
      return ballot
    },
  }
}
