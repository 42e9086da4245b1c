package index

import (
	"context"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// A list is right at once after a change, although the index follows the log later: the
// requests in the tail of the log are read and compared with the filter one by one, and
// what the index has of them is ignored.

// MaxTail is how many entries of the log are read. If the index is further behind, the
// newest ones are, and totals are not exact.
const MaxTail = 2048

// touched returns the requests in the log behind the index's progress, and whether these
// are all.
func touched(ctx context.Context, q database.Queryer, accountID feedback.ID) (ids []feedback.ID, all bool, err error) {
	entries, err := database.All(ctx, q, database.One[*feedback.ID], `SELECT request_id FROM changes
		WHERE account_id = $1 AND seq > COALESCE((SELECT seq FROM index_followed WHERE account_id = $1 AND version >= $2), 0)
		ORDER BY seq DESC LIMIT CAST($3 AS BIGINT)`, accountID, version, MaxTail+1)
	for _, id := range entries {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	slices.SortFunc(ids, feedback.ID.Compare)
	return slices.Compact(ids), len(entries) <= MaxTail, err
}

// addTail reads the requests of the tail that are in some apps, with their words or without.
func (r *reading) addTail(ctx context.Context, q database.Queryer, touched, apps []feedback.ID, words bool) error {
	if len(touched) == 0 {
		return nil
	}
	ofApp := func(appID feedback.ID) bool { return slices.Contains(apps, appID) }
	of := []idsOf{{r.accountID, touched}}
	documents, err := read(ctx, q, of, ofApp, words)
	if err != nil {
		return err
	}
	for _, id := range touched {
		if d := documents[0][id]; d != nil {
			r.tail = append(r.tail, d)
		}
	}
	known, err := readIndexed(ctx, q, of, words)
	r.stale = map[blockKey][]int{}
	for _, d := range known[0] {
		if !ofApp(d.appID) {
			continue
		}
		r.replaced = append(r.replaced, d)
		key := blockKey{d.appID, d.ordinal / blockSize}
		r.stale[key] = append(r.stale[key], int(d.ordinal%blockSize))
	}
	return err
}
