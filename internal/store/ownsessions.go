package store

import (
	"context"
	"database/sql"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Sessions returns up to limit sessions of a user that have not expired, the most recently
// used ones first.
func (s *Store) Sessions(ctx context.Context, accountID, userID feedback.ID, limit int) ([]feedback.OpenSession, error) {
	return database.All(ctx, s.db.Reader(), func(r database.Row) (o feedback.OpenSession, err error) {
		err = r.Scan(&o.ID, &o.CreatedAt, &o.UsedAt, &o.UserAgent)
		return o, err
	}, `SELECT s.id, s.created_at, COALESCE(s.used_at, s.created_at), COALESCE(s.user_agent, '') FROM sessions s
		WHERE s.account_id = $1 AND s.user_id = $2
		AND EXISTS (SELECT 1 FROM session_tokens t WHERE t.account_id = $1 AND t.session_id = s.id AND t.expires_at > $3)
		ORDER BY COALESCE(s.used_at, s.created_at) DESC, s.id DESC LIMIT CAST($4 AS BIGINT)`, accountID, userID, feedback.At(s.now()), limit)
}

// RevokeSession ends a session of a user. It returns ErrSessionNotFound if there is none.
func (s *Store) RevokeSession(ctx context.Context, accountID, userID, sessionID feedback.ID) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var n int
		err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM sessions WHERE account_id = $1 AND id = $2 AND user_id = $3",
			accountID, sessionID, userID).Scan(&n)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedback.ErrSessionNotFound
		}
		return s.endSession(ctx, tx, accountID, sessionID)
	})
}
