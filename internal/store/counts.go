package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// The table request_counts has the number of requests of each app, box and status. It changes
// in the same transaction as the requests, as counting ten million rows would take half a
// second.
//
// The row (app, live, opened) is also the app's lock, which the code calls its gate. It exists
// from the app's creation to its deletion. Every transaction that changes the app's requests,
// its key or its existence locks it before it reads the data that it decides on. So a
// submission either commits before a regenerated key or a deletion, or sees it.

type countKey struct {
	appID  feedback.ID
	box    feedback.Box
	status feedback.Status
}

func gateOf(appID feedback.ID) countKey { return countKey{appID, feedback.Live, feedback.Opened} }

// count adds deltas to the counters of an account, and locks its apps' gates.
func (s *Store) count(ctx context.Context, tx *sql.Tx, accountID feedback.ID, deltas map[countKey]int64) error {
	return s.countAll(ctx, tx, map[feedback.ID]map[countKey]int64{accountID: deltas})
}

// countAll adds deltas to the counters of accounts, and locks their apps' gates. It writes the rows in the order of the
// accounts and the apps, the gate of each app first, so that transactions cannot deadlock.
func (s *Store) countAll(ctx context.Context, tx *sql.Tx, deltas map[feedback.ID]map[countKey]int64) error {
	type counter struct {
		accountID feedback.ID
		countKey
	}
	var counters []counter
	for _, accountID := range slices.SortedFunc(maps.Keys(deltas), feedback.ID.Compare) {
		for _, key := range withGates(deltas[accountID]) {
			counters = append(counters, counter{accountID, key})
		}
	}
	const columns = 5
	for _, piece := range database.Pieces(counters) {
		args := make([]any, 0, columns*len(piece))
		for _, c := range piece {
			args = append(args, c.accountID, c.appID, string(c.box), string(c.status), deltas[c.accountID][c.countKey])
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO request_counts"+
			" (account_id, app_id, box, status, n) VALUES "+database.Placeholders(len(piece), columns)+
			" ON CONFLICT (account_id, app_id, box, status) DO UPDATE SET n = request_counts.n + excluded.n", args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// withGates returns the keys of deltas and those of the apps' gates, in the order in which they are written.
func withGates(deltas map[countKey]int64) []countKey {
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
	return keys
}

// lock locks an app's gate. If the app does not exist, it inserts a gate. The caller then
// finds no app and returns an error, which rolls back the insert.
func (s *Store) lock(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) error {
	return s.count(ctx, tx, accountID, map[countKey]int64{gateOf(appID): 0})
}

// alive returns the ids of the apps that are not deleted. After count, the result stays valid until the
// transaction ends.
func alive(ctx context.Context, tx *sql.Tx, accountID feedback.ID, appIDs []feedback.ID) ([]feedback.ID, error) {
	p := database.Parameters{accountID}
	return database.All(ctx, tx, database.One[feedback.ID], "SELECT id FROM apps"+
		" WHERE account_id = $1 AND deleted_at IS NULL AND id IN ("+database.List(&p, appIDs)+")", p...)
}
