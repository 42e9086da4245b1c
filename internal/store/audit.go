package store

import (
	"context"
	"math"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Audit returns a page of up to limit log entries about the account, its users and its apps,
// newest first, with numbers below before; zero means no bound. It also returns the total
// number of entries. It leaves out the entries about purged requests, which could be so
// many that they hide everything else.
func (s *Store) Audit(ctx context.Context, accountID feedback.ID, before int64, limit int) ([]feedback.Event, int64, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	var total int64
	if err := s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM changes"+
		" WHERE account_id = $1 AND request_id IS NULL AND kind <> 'request.purged'", accountID).Scan(&total); err != nil {
		return nil, 0, err
	}
	events, err := database.All(ctx, s.db.Reader(), func(r database.Row) (feedback.Event, error) {
		var app *string
		e, err := changelog.Scan(extraColumn{r, &app})
		if app != nil {
			e.AppName = *app
			e.Summarise()
		}
		return e, err
	}, `SELECT c.seq, c.at, c.kind, c.actor_kind, c.actor_id, u.name, c.before, c.after, a.name FROM changes c
		LEFT JOIN users u ON u.account_id = c.account_id AND u.id = c.actor_id
		LEFT JOIN apps a ON a.account_id = c.account_id AND a.id = c.app_id
		WHERE c.account_id = $1 AND c.request_id IS NULL AND c.kind <> 'request.purged' AND c.seq < $2
		ORDER BY c.seq DESC LIMIT CAST($3 AS BIGINT)`, accountID, before, limit)
	return events, total, err
}
