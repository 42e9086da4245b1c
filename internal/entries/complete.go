package entries

import (
	"context"
	"database/sql"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/row"
)

// completed is the status that an entry can give its requests.
const completed feedback.Status = "completed"

// complete completes requests of an app, whose gate is locked.
func (e *Entries) complete(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, ids []feedback.ID) error {
	requests, err := completable(ctx, tx, accountID, ids)
	if err != nil {
		return err
	}
	_, err = e.change(ctx, tx, accountID, requests, by, func(r *feedback.Request) error {
		r.Status = completed
		return nil
	})
	return err
}

// Audience returns what completing the requests of an entry would do.
func (e *Entries) Audience(ctx context.Context, accountID feedback.ID, entry feedback.Entry) (a feedback.EntryAudience, err error) {
	requests, err := completable(ctx, e.db.Reader(), accountID, entry.RequestIDs)
	if err != nil {
		return a, err
	}
	for i := range requests {
		requests[i].Status = completed
	}
	a.Requests = len(requests)
	a.People, err = e.readers.Told(ctx, e.db.Reader(), accountID, requests)
	return a, err
}

// completable returns those of the requests that are live and not completed. In place of a merged request, it
// returns the one that it is merged into, which is of the same app.
func completable(ctx context.Context, q database.Queryer, accountID feedback.ID, ids []feedback.ID) ([]feedback.Request, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	p := database.Parameters{accountID, string(completed)}
	return database.All(ctx, q, row.Scan, "SELECT "+row.Columns+` FROM requests WHERE account_id = $1 AND box = 'live' AND status <> $2
		AND id IN (SELECT COALESCE(m.merged_into_id, m.id) FROM requests m WHERE m.account_id = $1 AND m.box = 'live'
			AND m.id IN (`+database.List(&p, database.Padded(ids))+"))", p...)
}
