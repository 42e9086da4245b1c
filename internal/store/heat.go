package store

import (
	"context"
	"database/sql"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// requests.heat orders requests by their votes and when these were given, see feedback.Heat. It counts the rows
// of votes, and of several votes of a person the first. So a request for which only its submitter has voted has none.
// It changes behind the app's gate in each transaction that changes who counts for a request.

// heats returns the heat of requests, computed from the rows of votes.
func heats(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids ...feedback.ID) (map[feedback.ID]int64, error) {
	found := make(map[feedback.ID]int64, len(ids))
	for _, piece := range database.Pieces(ids) {
		p := database.Parameters{accountID}
		in := " IN (" + database.List(&p, piece) + ")"
		votes := make(map[feedback.ID][]feedback.Time, len(piece))
		err := database.Each(ctx, tx, func(r database.Row) error {
			var id feedback.ID
			var first feedback.Time
			err := r.Scan(&id, &first)
			votes[id] = append(votes[id], first)
			return err
		}, `SELECT id, MIN(created_at) FROM (
			SELECT v.request_id AS id, v.person, v.created_at FROM votes v WHERE v.account_id = $1 AND v.request_id`+in+`
			UNION ALL
			SELECT m.merged_into_id, v.person, v.created_at FROM requests m
				JOIN votes v ON v.account_id = m.account_id AND v.request_id = m.id
				WHERE m.account_id = $1 AND m.merged_into_id`+in+` AND m.box <> 'bin') AS counting GROUP BY id, person`, p...)
		if err != nil {
			return nil, err
		}
		for _, id := range piece {
			found[id] = feedback.Heat(votes[id])
		}
	}
	return found, nil
}
