package index

import (
	"context"
	"database/sql"
	"errors"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// purgeChunk is how many rows PurgeApp removes in one transaction.
const purgeChunk = 5000

// PurgeApp removes a chunk of a deleted app's words from the index, and reports whether
// there was any. The texts of its requests go with the requests, by Forget.
func PurgeApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) (bool, error) {
	if err := lock(ctx, tx, accountID); err != nil {
		return false, err
	}
	for _, part := range []struct{ table, second string }{{"request_words", "id"}, {"word_counts", "account_id"}} {
		of := " FROM " + part.table + " WHERE account_id = $1 AND app_id = $2"
		// Up to a row, as the databases find a range sooner than so many rows.
		var word string
		var second feedback.ID
		err := tx.QueryRowContext(ctx, "SELECT word, "+part.second+of+" ORDER BY word, "+part.second+" LIMIT 1 OFFSET CAST($3 AS BIGINT)",
			accountID, appID, purgeChunk).Scan(&word, &second)
		var n int64
		switch {
		case errors.Is(err, sql.ErrNoRows):
			n, err = database.Changed(ctx, tx, "DELETE"+of, accountID, appID)
		case err == nil:
			n, err = database.Changed(ctx, tx, "DELETE"+of+" AND (word, "+part.second+") < ($3, $4)", accountID, appID, word, second)
		}
		if err != nil || n > 0 {
			return true, err
		}
	}
	return false, nil
}

// Forget removes the texts of requests of an app whose words PurgeApp has removed.
func Forget(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	p := database.Parameters{accountID}
	_, err := tx.ExecContext(ctx, "DELETE FROM indexed_requests"+
		" WHERE account_id = $1 AND request_id IN ("+database.List(&p, ids)+")", p...)
	return err
}
