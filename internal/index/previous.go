package index

import (
	"context"
	"database/sql"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// The version before has an index of words in tables of its own (0003_search.sql). It
// follows the log there as long as one of its processes runs, and again after a downgrade.
// Until a later version drops the tables, what is removed for good must be removed there.

// removePrevious removes requests from the index of the version before.
func removePrevious(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO index_progress (account_id, seq) VALUES ($1, 0)
		ON CONFLICT (account_id) DO UPDATE SET seq = index_progress.seq`, accountID); err != nil {
		return err
	}
	p := database.Parameters{accountID}
	documents, err := database.All(ctx, tx, func(r database.Row) (d document, err error) {
		var words string
		err = r.Scan(&d.id, &d.appID, &words)
		d.terms = append(strings.Fields(words), "") // the empty word counts requests
		return d, err
	}, "SELECT request_id, app_id, words FROM indexed_requests"+
		" WHERE account_id = $1 AND request_id IN ("+database.List(&p, database.Padded(ids))+")", p...)
	if err != nil {
		return err
	}
	for _, d := range documents {
		p := database.Parameters{accountID, d.appID}
		words := database.List(&p, database.Padded(d.terms))
		for _, statement := range []string{
			"UPDATE word_counts SET n = n - 1 WHERE account_id = $1 AND app_id = $2 AND word IN (" + words + ")",
			"DELETE FROM word_counts WHERE account_id = $1 AND app_id = $2 AND n <= 0 AND word <> '' AND word IN (" + words + ")",
		} {
			if _, err := tx.ExecContext(ctx, statement, p...); err != nil {
				return err
			}
		}
		id := p.Add(d.id)
		if _, err := tx.ExecContext(ctx, "DELETE FROM request_words WHERE account_id = $1 AND app_id = $2"+
			" AND word IN ("+words+") AND id = "+id, p...); err != nil {
			return err
		}
	}
	return nil
}
