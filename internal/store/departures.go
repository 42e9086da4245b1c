package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// departure is a removed user of whom some requests may still be.
type departure struct{ accountID, userID, removedBy feedback.ID }

// Unassign makes some requests of a removed user nobody's and reports whether there may be
// more of them.
func (s *Store) Unassign(ctx context.Context) (more bool, err error) {
	var d departure
	err = s.db.Reader().QueryRowContext(ctx, "SELECT account_id, user_id, removed_by FROM departures ORDER BY account_id, user_id LIMIT 1").
		Scan(&d.accountID, &d.userID, &d.removedBy)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = s.unassignSome(ctx, d)
	return true, err
}

// unassignSome makes a piece of a removed user's requests nobody's, so that others' writes
// go on in between, and reports whether there was one.
func (s *Store) unassignSome(ctx context.Context, d departure) (more bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		more = false
		for _, box := range []feedback.Box{feedback.Live, feedback.Quarantine, feedback.Bin} {
			assigned, err := assignedTo(ctx, tx, d, box)
			if err != nil {
				return err
			}
			if len(assigned) > 0 {
				more = true
				return s.unassign(ctx, tx, d, assigned)
			}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM departures WHERE account_id = $1 AND user_id = $2", d.accountID, d.userID)
		return err
	})
	return more, err
}

// assignment is a request that is somebody's, and its app.
type assignment struct{ id, appID feedback.ID }

func scanAssignment(r database.Row) (a assignment, err error) {
	err = r.Scan(&a.id, &a.appID)
	return a, err
}

// assignedTo are requests in a box that are somebody's; those of deleted apps go anyway.
func assignedTo(ctx context.Context, tx *sql.Tx, d departure, box feedback.Box) ([]assignment, error) {
	return database.All(ctx, tx, scanAssignment,
		`SELECT r.id, r.app_id FROM requests r WHERE r.account_id = $1 AND r.box = $2 AND r.assignee_id = $3
		AND 1 = (SELECT COUNT(*) FROM apps a WHERE a.account_id = $1 AND a.id = r.app_id AND a.deleted_at IS NULL) ORDER BY r.id ASC NULLS FIRST LIMIT CAST($4 AS BIGINT)`,
		d.accountID, string(box), d.userID, bulkChunk)
}

// unassign makes requests nobody's, of those that are still the user's behind the gates.
func (s *Store) unassign(ctx context.Context, tx *sql.Tx, d departure, assigned []assignment) error {
	gates := map[countKey]int64{}
	var apps, ids []feedback.ID
	for _, a := range assigned {
		ids = append(ids, a.id)
		if gates[gateOf(a.appID)] = 0; !slices.Contains(apps, a.appID) {
			apps = append(apps, a.appID)
		}
	}
	if err := s.count(ctx, tx, d.accountID, gates); err != nil {
		return err
	}
	live, err := alive(ctx, tx, d.accountID, apps)
	if err != nil {
		return err
	}
	if len(live) < len(apps) { // one was deleted meanwhile
		return database.ErrStale
	}
	now := feedback.At(s.now())
	p := database.Parameters{d.accountID, now, d.userID}
	changed, err := database.All(ctx, tx, scanAssignment, "UPDATE requests SET assignee_id = NULL, "+touched+
		" WHERE account_id = $1 AND assignee_id = $3 AND id IN ("+database.List(&p, ids)+") RETURNING id, app_id", p...)
	if err != nil {
		return err
	}
	slices.SortFunc(changed, func(a, b assignment) int { return a.id.Compare(b.id) })
	changes := make([]feedback.Change, 0, len(changed))
	for _, a := range changed {
		changes = append(changes, feedback.Change{
			Kind: feedback.RequestUpdated, Actor: userActor(d.removedBy), AppID: &a.appID, RequestID: &a.id,
			Before: map[string]any{"assignee_id": d.userID}, After: map[string]any{"assignee_id": nil},
		})
	}
	return s.record(ctx, tx, d.accountID, now, changes...)
}
