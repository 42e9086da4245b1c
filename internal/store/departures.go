package store

import (
	"context"
	"database/sql"
	"slices"

	"gatherkit/internal/aside"
	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/mentions"
	"gatherkit/internal/tokens"
	"gatherkit/internal/views"
)

// departure is a removed user who may still have assigned requests.
type departure struct {
	accountID, userID feedback.ID
	by                feedback.Actor
}

// RemoveUser deletes a user with their login, sessions, tokens and join link. What they wrote stays.
// It then unassigns their requests in chunks. If that fails, the worker continues, and
// RemoveUser returns nil. It returns ErrUserNotFound, ErrForbidden or ErrLastOwner.
func (s *Store) RemoveUser(ctx context.Context, accountID feedback.ID, by feedback.Actor, id feedback.ID) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.Team.Remove(ctx, tx, accountID, by, id); err != nil {
			return err
		}
		if err := views.RemoveUser(ctx, tx, accountID, id); err != nil {
			return err
		}
		if err := mentions.RemoveUser(ctx, tx, accountID, id); err != nil {
			return err
		}
		if err := tokens.RemoveUser(ctx, tx, accountID, id); err != nil {
			return err
		}
		if err := mail.RemoveUser(ctx, tx, accountID, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO departures (account_id, user_id, removed_by) VALUES ($1, $2, $3)", accountID, id, by.MakerID())
		return err
	})
	for more := err == nil; more; {
		var failed error
		if more, failed = s.unassignChunk(ctx, departure{accountID, id, by}); failed != nil {
			s.log.Warn("unassigning the requests of a removed user failed; the worker will continue", "error", failed)
			more = false
		}
	}
	return err
}

// Unassign unassigns a chunk of the requests of each of a few removed users, and reports whether
// there may be more.
func (s *Store) Unassign(ctx context.Context) (more bool, err error) {
	return forSome(ctx, s, aside.Departure, usersAtOnce, func(d departure) error {
		_, err := s.unassignChunk(ctx, d)
		return err
	}, func(r database.Row) (d departure, err error) {
		var by feedback.ID
		err = r.Scan(&d.accountID, &d.userID, &by)
		d.by = feedback.UserOrCommand(by)
		return d, err
	}, "SELECT account_id, user_id, removed_by FROM departures %s ORDER BY account_id, user_id")
}

// Item is the work of unassigning the requests of the user.
func (d departure) Item() aside.Item {
	return aside.Item{AccountID: d.accountID, Kind: aside.Departure, Subject: d.userID.String()}
}

// unassignChunk unassigns up to bulkChunk requests of a removed user, and reports whether
// there were any. Other writes can run between the chunks.
func (s *Store) unassignChunk(ctx context.Context, d departure) (more bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		more = false
		if err := aside.Done(ctx, tx, d.Item()); err != nil {
			return err
		}
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

// assignment is an assigned request and its app.
type assignment struct{ id, appID feedback.ID }

func scanAssignment(r database.Row) (a assignment, err error) {
	err = r.Scan(&a.id, &a.appID)
	return a, err
}

// assignedTo returns up to bulkChunk requests of a removed user in a box. It leaves out those
// of deleted apps, which the worker deletes anyway.
func assignedTo(ctx context.Context, tx *sql.Tx, d departure, box feedback.Box) ([]assignment, error) {
	return database.All(ctx, tx, scanAssignment,
		`SELECT r.id, r.app_id FROM requests r WHERE r.account_id = $1 AND r.box = $2 AND r.assignee_id = $3
		AND 1 = (SELECT COUNT(*) FROM apps a WHERE a.account_id = $1 AND a.id = r.app_id AND a.deleted_at IS NULL)
		ORDER BY r.id ASC NULLS FIRST LIMIT CAST($4 AS BIGINT)`,
		d.accountID, string(box), d.userID, bulkChunk)
}

// unassign locks the gates of the requests' apps, and unassigns the requests that are still
// assigned to the user.
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
	if len(live) < len(apps) { // an app was deleted after assignedTo
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
			Kind: feedback.RequestUpdated, Actor: d.by, AppID: &a.appID, RequestID: &a.id,
			Before: map[string]any{"assignee_id": d.userID}, After: map[string]any{"assignee_id": nil},
		})
	}
	return changelog.Record(ctx, tx, d.accountID, now, changes...)
}
