package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"gatherkit/internal/feedback"
	"gatherkit/internal/row"
)

// submitterVote returns the submitter's vote for their request, and their key.
func submitterVote(r feedback.Request) (feedback.Vote, string) {
	p, key := r.Person()
	return feedback.Vote{RequestID: r.ID, Person: p, Source: r.Source, CreatedAt: r.CreatedAt}, key
}

// keepWhereCounted adds the rows of submitters' votes that have none, where a ballot changes who votes. It sets the
// results of all other ballots for such requests, and returns the rest. A row would change the request's heat, and
// with it the order of lists, although nothing has happened.
func (s *Store) keepWhereCounted(ctx context.Context, tx *sql.Tx, accountID feedback.ID, casts []*vote) ([]*vote, error) {
	roots := make([]feedback.Request, 0, len(casts))
	for _, c := range casts {
		roots = append(roots, *c.root)
	}
	alone, err := submittersAlone(ctx, tx, accountID, roots)
	if err != nil || len(alone) == 0 {
		return casts, err
	}
	counted := map[feedback.ID]feedback.Request{}
	for _, c := range casts {
		r, is := alone[c.root.ID]
		if !is {
			continue
		}
		// Others can only add a vote, and the submitter can only remove theirs.
		if _, submitter := r.Person(); (c.Person.Key() == submitter) == c.Remove {
			counted[r.ID] = r
		}
	}
	for id := range counted {
		delete(alone, id)
	}
	rest := make([]*vote, 0, len(casts))
	for _, c := range casts {
		if _, unchanged := alone[c.root.ID]; unchanged {
			c.votes = c.root.Votes
		} else {
			rest = append(rest, c)
		}
	}
	return rest, s.insertSubmitters(ctx, tx, accountID, counted)
}

// keepSubmitters adds the rows of submitters' votes that have none.
func (s *Store) keepSubmitters(ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests ...feedback.Request) error {
	alone, err := submittersAlone(ctx, tx, accountID, requests)
	if err != nil {
		return err
	}
	return s.insertSubmitters(ctx, tx, accountID, alone)
}

// submittersAlone returns the requests for which only their submitters have voted, without a row: those that are
// not merged, and have one vote, no rows and nothing merged into them.
func submittersAlone(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests []feedback.Request,
) (map[feedback.ID]feedback.Request, error) {
	alone := map[feedback.ID]feedback.Request{}
	for _, r := range requests {
		if r.Votes == 1 && r.MergedIntoID == nil {
			alone[r.ID] = r
		}
	}
	kept, err := row.Kept(ctx, tx, accountID, slices.Collect(maps.Keys(alone)))
	for _, id := range kept {
		delete(alone, id)
	}
	return alone, err
}

func (s *Store) insertSubmitters(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests map[feedback.ID]feedback.Request,
) error {
	votes := make([]Voter, 0, len(requests))
	for _, r := range requests {
		v, key := submitterVote(r)
		votes = append(votes, Voter{Vote: v, Key: key})
	}
	_, err := s.insertVotes(ctx, tx, accountID, votes)
	return err
}
