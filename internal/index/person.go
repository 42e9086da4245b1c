package index

import (
	"context"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// maxVotedFor is how many requests that a person voted for are read.
const maxVotedFor = 10_000

// votedFor returns the latest requests that a person voted for, and whether these are all. The
// votes of submitters are not among them: many are not stored as rows.
func votedFor(ctx context.Context, q database.Queryer, accountID feedback.ID, person string) (ids []feedback.ID, all bool, err error) {
	ids, err = database.All(ctx, q, database.One[feedback.ID], "SELECT request_id FROM votes"+
		" WHERE account_id = $1 AND person = $2 ORDER BY request_id DESC LIMIT CAST($3 AS BIGINT)",
		accountID, person, maxVotedFor+1)
	all = len(ids) <= maxVotedFor
	return ids[:min(len(ids), maxVotedFor)], all, err
}

// conditions returns the conditions of a filter, and whether they cover all requests that match.
func (r *reading) conditions(ctx context.Context, q database.Queryer, f Filter) (conditions []condition, all bool, err error) {
	conditions = conditionsOf(f)
	if f.Person == "" {
		return conditions, true, nil
	}
	voted, all, err := votedFor(ctx, q, r.accountID, f.Person)
	submitted := []string{keyTerm(f.Person)}
	return append(conditions, condition{part: byPerson, terms: submitted, also: voted}), all, err
}

// addRequests adds the ordinals of requests to the sets of their blocks.
func (r *reading) addRequests(ctx context.Context, q database.Queryer, sets []set, blocks []hits, ids []feedback.ID) error {
	at := make(map[blockKey]int, len(blocks))
	for i, h := range blocks {
		at[blockKey{h.appID, h.number}] = i
	}
	known, err := readIndexed(ctx, q, []idsOf{{r.accountID, ids}}, false)
	for _, d := range known[0] {
		if i, wanted := at[blockKey{d.appID, d.ordinal / blockSize}]; wanted {
			sets[i].add(int(d.ordinal % blockSize))
		}
	}
	return err
}
