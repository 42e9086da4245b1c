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

// PurgeApp removes a chunk of a deleted app's index, and reports whether there was any. The
// documents of its requests go with the requests, by Forget.
func PurgeApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) (bool, error) {
	if err := lock(ctx, tx, accountID); err != nil {
		return false, err
	}
	for _, part := range []struct{ table, key string }{
		{"index_postings", "block, term"},
		{"index_ids", "part, account_id"},
		{"index_blocks", "block, account_id"},
		{"index_words", "word, account_id"},
	} {
		of := " FROM " + part.table + " WHERE account_id = $1 AND app_id = $2"
		// Up to a row, as the databases find a range sooner than so many rows.
		var first, second any
		err := tx.QueryRowContext(ctx, "SELECT "+part.key+of+" ORDER BY "+part.key+" LIMIT 1 OFFSET CAST($3 AS BIGINT)",
			accountID, appID, purgeChunk).Scan(&first, &second)
		var n int64
		switch {
		case errors.Is(err, sql.ErrNoRows):
			n, err = database.Changed(ctx, tx, "DELETE"+of, accountID, appID)
		case err == nil:
			n, err = database.Changed(ctx, tx, "DELETE"+of+" AND ("+part.key+") < ($3, $4)", accountID, appID, first, second)
		}
		if err != nil || n > 0 {
			return true, err
		}
	}
	return false, nil
}

// Forget removes the documents of requests of an app whose index PurgeApp has removed.
func Forget(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	p := database.Parameters{accountID}
	_, err := tx.ExecContext(ctx, "DELETE FROM index_documents WHERE account_id = $1 AND request_id IN ("+
		database.List(&p, database.Padded(ids))+")", p...)
	return err
}
