package entries

import (
	"context"
	"database/sql"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// RemoveApp keeps the worker from finding the scheduled entries of an app that is deleted in the same
// transaction. PurgeApp deletes them later.
func RemoveApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "UPDATE entries SET state = 'draft', publish_at = NULL"+
		" WHERE account_id = $1 AND app_id = $2 AND state = 'scheduled'", accountID, appID) // entries_app has the state
	return err
}

// PurgeApp deletes up to limit entries of a deleted app, and reports whether there may be more. What they are
// about was deleted with the requests of the app.
func PurgeApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, limit int) (more bool, err error) {
	n, err := database.Changed(ctx, tx, "DELETE FROM entries WHERE account_id = $1 AND id IN"+
		" (SELECT id FROM entries WHERE account_id = $1 AND app_id = $2 LIMIT CAST($3 AS BIGINT))", accountID, appID, limit)
	return n > 0, err
}
