import type { Failure } from './api'
import type { Tools } from './tools'

/** The result of a vote. */
export interface Ballot {
  votes: number
  voted: boolean
}

/** The votes of this page view. */
export interface Votes {
  has(request: string): boolean
  cast(request: string, remove: boolean, why: string): Promise<Ballot>
}

export function createVotes({ keep, uuid, reader, call, token, emit, failed }: Tools): Votes {
  const given = new Set<string>()

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
    has: (request) => given.has(request),
    async cast(request, remove, why) {
      const ballot = await send({ request_id: request, remove, why })
      given[ballot.voted ? 'add' : 'delete'](request)
      emit('vote', { request_id: request, ...ballot })
      return ballot
    },
  }
}
