package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// request_counts says how many requests an app has in each box and status, and
// is changed in the transaction that changes the requests: counting rows would
// take half a second at ten millions.
//
// The row (app, live, opened) is also the app's gate: it is there from the app's
// creation to its deletion, and every transaction that changes the app's requests,
// its key or its existence locks it before it decides anything. So a submission either
// commits before a regenerated key or a deletion, or sees it.

type countKey struct {
	appID  feedback.ID
	box    feedback.Box
	status feedback.Status
}

func gateOf(appID feedback.ID) countKey { return countKey{appID, feedback.Live, feedback.Opened} }

// liveApp is an app that has not been deleted, and its present key.
type liveApp struct {
	id  feedback.ID
	key string
}

// count adds to the counters, each app's gate first and in the order of ids, so
// that transactions cannot wait for each other in a circle.
func (s *Store) count(ctx context.Context, tx *sql.Tx, accountID feedback.ID, deltas map[countKey]int64) error {
	keys := make([]countKey, 0, 2*len(deltas))
	for key := range deltas {
		if key != gateOf(key.appID) {
			keys = append(keys, key)
		}
		if gate := gateOf(key.appID); !slices.Contains(keys, gate) {
			keys = append(keys, gate)
		}
	}
	slices.SortFunc(keys, func(a, b countKey) int {
		if order := a.appID.Compare(b.appID); order != 0 {
			return order
		}
		if gate := gateOf(a.appID); (a == gate) != (b == gate) {
			if a == gate {
				return -1
			}
			return 1
		}
		return strings.Compare(string(a.box)+string(a.status), string(b.box)+string(b.status))
	})
	const columns = 5
	args := make([]any, 0, columns*len(keys))
	for _, key := range keys {
		args = append(args, accountID, key.appID, string(key.box), string(key.status), deltas[key])
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO request_counts"+
		" (account_id, app_id, box, status, n) VALUES "+s.db.Placeholders(len(keys), columns)+
		" ON CONFLICT (account_id, app_id, box, status) DO UPDATE SET n = request_counts.n + excluded.n", args...)
	return err
}

// lock takes an app's gate. For an app that does not exist it makes one: the
// caller then finds no app, and its refusal undoes that.
func (s *Store) lock(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) error {
	return s.count(ctx, tx, accountID, map[countKey]int64{gateOf(appID): 0})
}

// alive returns those of the apps that are not deleted. Called after count, what
// it says holds until the transaction ends.
func alive(ctx context.Context, tx *sql.Tx, accountID feedback.ID, appIDs []feedback.ID) ([]liveApp, error) {
	p := database.Parameters{accountID}
	return database.All(ctx, tx, func(r database.Row) (app liveApp, err error) {
		err = r.Scan(&app.id, &app.key)
		return app, err
	}, "SELECT id, api_key FROM apps WHERE account_id = $1 AND deleted_at IS NULL AND id IN ("+database.List(&p, appIDs)+")", p...)
}
