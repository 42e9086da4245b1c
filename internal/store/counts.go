package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"gatherkit/internal/feedback"
)

// request_counts says how many requests an app has in each box and status, and
// is changed in the transaction that changes the requests: counting rows would
// take half a second at ten millions.
//
// The row (app, live, opened) is also the app's gate: it is there from the app's
// creation to its deletion, and every transaction that changes the app's requests,
// its key or its existence locks it first. So a submission either commits before
// a regenerated key or a deletion, or comes after and sees it.

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
		if order := bytes.Compare(a.appID[:], b.appID[:]); order != 0 {
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
	_, err := tx.ExecContext(ctx, "INSERT INTO request_counts (account_id, app_id, box, status, n) VALUES "+s.dialect.placeholders(len(keys), columns)+
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
	p := parameters{accountID}
	return all(ctx, tx, func(r row) (app liveApp, err error) {
		err = r.Scan(&app.id, &app.key)
		return app, err
	}, "SELECT id, api_key FROM apps WHERE account_id = $1 AND deleted_at IS NULL AND id IN ("+list(&p, appIDs)+")", p...)
}

// Miscount is a counter that did not agree with the rows.
type Miscount struct {
	AccountID, AppID feedback.ID
	Box, Status      string
	Counted, Rows    int64
}

// Recount compares the counters of every app with its rows, repairs those that
// are wrong and returns them. An app's writers wait while it is being counted.
func (s *Store) Recount(ctx context.Context) ([]Miscount, error) {
	type appKey struct{ accountID, id feedback.ID }
	apps, err := all(ctx, s.reader, func(r row) (k appKey, err error) {
		err = r.Scan(&k.accountID, &k.id)
		return k, err
	}, "SELECT account_id, id FROM apps WHERE deleted_at IS NULL ORDER BY account_id, id")
	if err != nil {
		return nil, err
	}
	var wrong []Miscount
	for _, app := range apps {
		var found []Miscount
		err := s.write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			found, err = s.recountApp(ctx, tx, app.accountID, app.id)
			return err
		})
		if err != nil && !errors.Is(err, feedback.ErrAppNotFound) {
			return wrong, err
		}
		wrong = append(wrong, found...)
	}
	return wrong, nil
}

func (s *Store) recountApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) ([]Miscount, error) {
	if err := s.lock(ctx, tx, accountID, appID); err != nil {
		return nil, err
	}
	if _, err := readApp(ctx, tx, accountID, appID); err != nil { // deleted meanwhile: no gate must stay
		return nil, err
	}
	// Rows without a counter and counters without rows both show up in the union.
	wrong, err := all(ctx, tx, func(r row) (Miscount, error) {
		m := Miscount{AccountID: accountID, AppID: appID}
		err := r.Scan(&m.Box, &m.Status, &m.Counted, &m.Rows)
		return m, err
	}, `SELECT box, status, CAST(SUM(counted) AS BIGINT), CAST(SUM(present) AS BIGINT) FROM (
			SELECT box, status, n AS counted, 0 AS present FROM request_counts WHERE account_id = $1 AND app_id = $2
			UNION ALL
			SELECT box, status, 0, COUNT(*) FROM requests WHERE account_id = $1 AND app_id = $2 GROUP BY box, status
		) AS both_sides GROUP BY box, status HAVING SUM(counted) <> SUM(present) ORDER BY box, status`, accountID, appID)
	if err != nil {
		return nil, err
	}
	deltas := map[countKey]int64{}
	for _, m := range wrong {
		deltas[countKey{appID, feedback.Box(m.Box), feedback.Status(m.Status)}] = m.Rows - m.Counted
	}
	if len(deltas) == 0 {
		return nil, nil
	}
	return wrong, s.count(ctx, tx, accountID, deltas)
}
