package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/row"
)

// Request returns a request of the account that is not in the bin, or
// ErrRequestNotFound.
func (s *Store) Request(ctx context.Context, accountID, id feedback.ID) (feedback.Request, error) {
	r, err := readRequest(ctx, s.db.Reader(), accountID, id)
	if err == nil && r.Box == feedback.Bin {
		err = feedback.ErrRequestNotFound
	}
	return r, err
}

// ChangeRequest reads a request, lets change alter it and saves what is different,
// all in one transaction; requests in the bin are handed to change, too. It refuses
// with ErrRequestNotFound, and with what change refuses with.
func (s *Store) ChangeRequest(ctx context.Context, accountID, id feedback.ID, by feedback.Actor, change func(*feedback.Request) error) (feedback.Request, error) {
	var r feedback.Request
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if r, err = s.lockRequest(ctx, tx, accountID, id); err != nil {
			return err
		}
		old := r
		if err := alter(&r, change); err != nil {
			return err
		}
		before, after := feedback.Diff(old, r)
		if len(after) == 0 && r.Box == old.Box {
			return nil
		}
		r.Version++
		r.UpdatedAt = feedback.At(s.now())
		if err := s.saveRequest(ctx, tx, accountID, old, r, answers(by, old, r)); err != nil {
			return err
		}
		if err := s.move(ctx, tx, accountID, old, r); err != nil {
			return err
		}
		if r.MergedIntoID != nil && r.Box != old.Box {
			if err := s.settleRoots(ctx, tx, accountID, by, *r.MergedIntoID); err != nil {
				return err
			}
		}
		return s.record(ctx, tx, accountID, r.UpdatedAt, feedback.Change{
			Kind: kindOfMove(old.Box, r.Box), Actor: by, AppID: &r.AppID, RequestID: &id, Before: before, After: after,
		})
	})
	return r, err
}

// alter lets change alter a request. A merged one is a duplicate until it is taken out.
func alter(r *feedback.Request, change func(*feedback.Request) error) error {
	status := r.Status
	if err := change(r); err != nil {
		return err
	}
	if r.MergedIntoID != nil && r.Status != status {
		return feedback.ErrMerged
	}
	return nil
}

// lockRequest takes the gate of a request's app and returns the request: what was read
// counts only behind the gate, where nobody else changes it.
func (s *Store) lockRequest(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) (feedback.Request, error) {
	r, err := readRequest(ctx, tx, accountID, id)
	if err != nil {
		return r, err
	}
	if err := s.lock(ctx, tx, accountID, r.AppID); err != nil {
		return r, err
	}
	return readRequest(ctx, tx, accountID, id)
}

// errBehindGate is a fault of the service: while this transaction had locked the gate of an
// app, another one changed the app or one of its requests.
var errBehindGate = errors.New("an app or a request was changed by a transaction that did not lock the app's gate")

// saveRequest stores a request that was read as old behind the gate. It refuses an
// assignee that the account does not have.
func (s *Store) saveRequest(ctx context.Context, tx *sql.Tx, accountID feedback.ID, old, r feedback.Request, answers bool) error {
	if reassigned(old, r) {
		if err := checkAssignee(ctx, tx, accountID, *r.AssigneeID); err != nil {
			return err
		}
	}
	p := database.Parameters{accountID, r.ID, old.Version}
	n, err := database.Changed(ctx, tx, "UPDATE requests SET "+
		row.Assign(&p, &r, "box", "status", "title", "description", "tags", "assignee_id", "eta", "version", "updated_at")+", "+
		answered(p.Add(answerAt(answers, r.UpdatedAt)))+" WHERE account_id = $1 AND id = $2 AND version = $3", p...)
	if err != nil {
		return err
	}
	if n == 0 {
		return errBehindGate
	}
	if slices.Equal(old.Tags, r.Tags) {
		return nil
	}
	return s.saveTags(ctx, tx, accountID, r)
}

// reassigned reports whether a request has got another assignee than before.
func reassigned(old, r feedback.Request) bool {
	return r.AssigneeID != nil && (old.AssigneeID == nil || *old.AssigneeID != *r.AssigneeID)
}

// checkAssignee refuses an assignee that the account does not have. Writing the user's
// row makes a removal wait until the request can be found that is to be nobody's then.
func checkAssignee(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) error {
	n, err := database.Changed(ctx, tx, "UPDATE users SET role = role WHERE account_id = $1 AND id = $2", accountID, id)
	if err == nil && n == 0 {
		return feedback.Invalid("requests", "assignee_id", "assignee_id must be the id of a user of the account; users-list has them.")
	}
	return err
}

// AddRequest stores a request that a user has written down. It refuses with
// ErrAppNotFound, and an assignee that the account does not have.
func (s *Store) AddRequest(ctx context.Context, accountID feedback.ID, by feedback.Actor, r feedback.Request) (feedback.Request, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.count(ctx, tx, accountID, map[countKey]int64{{r.AppID, r.Box, r.Status}: 1}); err != nil {
			return err
		}
		if _, err := readApp(ctx, tx, accountID, r.AppID); err != nil {
			return err
		}
		if r.AssigneeID != nil {
			if err := checkAssignee(ctx, tx, accountID, *r.AssigneeID); err != nil {
				return err
			}
		}
		r.ID = s.ids.New()
		r.CreatedAt, r.UpdatedAt = r.ID.Time(), r.ID.Time() // as in arrive
		if _, err := s.insertRequests(ctx, tx, accountID, []newRow{{request: r}}); err != nil {
			return err
		}
		if err := s.saveTags(ctx, tx, accountID, r); err != nil {
			return err
		}
		if by.Kind == feedback.ByUser && r.Status != feedback.Opened {
			if _, err := tx.ExecContext(ctx, "UPDATE requests SET answered_after = 0 WHERE account_id = $1 AND id = $2", accountID, r.ID); err != nil {
				return err
			}
		}
		return s.record(ctx, tx, accountID, r.CreatedAt, feedback.Change{Kind: feedback.RequestCreated, Actor: by, AppID: &r.AppID, RequestID: &r.ID})
	})
	return r, err
}

// move takes a request from one counter to another.
func (s *Store) move(ctx context.Context, tx *sql.Tx, accountID feedback.ID, old, r feedback.Request) error {
	from, to := countKey{r.AppID, old.Box, old.Status}, countKey{r.AppID, r.Box, r.Status}
	if from == to {
		return nil
	}
	return s.count(ctx, tx, accountID, map[countKey]int64{from: -1, to: 1})
}

func kindOfMove(from, to feedback.Box) feedback.ChangeKind {
	switch {
	case from == to:
		return feedback.RequestUpdated
	case from == feedback.Quarantine && to == feedback.Bin:
		return feedback.RequestBlocked
	case from == feedback.Quarantine:
		return feedback.RequestReleased
	case to == feedback.Bin:
		return feedback.RequestDeleted
	}
	return feedback.RequestRestored
}

func readRequest(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (feedback.Request, error) {
	r, err := row.Scan(q.QueryRowContext(ctx, "SELECT "+row.Columns+` FROM requests r WHERE r.account_id = $1 AND r.id = $2
		AND EXISTS (SELECT 1 FROM apps a WHERE a.account_id = $1 AND a.id = r.app_id AND a.deleted_at IS NULL)`, accountID, id))
	return r, orNotFound(err, feedback.ErrRequestNotFound)
}

// insertRequests adds rows; those whose idempotency key is taken are left out. It
// returns the ids of the rows that were added.
func (s *Store) insertRequests(ctx context.Context, tx *sql.Tx, accountID feedback.ID, rows []newRow) (map[feedback.ID]bool, error) {
	added := make(map[feedback.ID]bool, len(rows))
	for _, piece := range database.Powers(rows) {
		var args []any
		for _, n := range piece {
			args = append(row.Values(append(args, accountID), &n.request), n.key, n.fingerprint)
		}
		ids, err := database.All(ctx, tx, database.One[feedback.ID], "INSERT INTO requests (account_id, "+row.Columns+", idempotency_key, fingerprint) VALUES "+
			s.db.Placeholders(len(piece), len(args)/len(piece))+" ON CONFLICT DO NOTHING RETURNING id", args...)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			added[id] = true
		}
	}
	return added, nil
}

// removeChildren removes what belongs to requests that go for good. Of their files it
// lets go, for the worker to remove.
func removeChildren(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	for _, table := range []string{"changes", "request_tags", "votes", "comments"} {
		p := database.Parameters{accountID}
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+
			" WHERE account_id = $1 AND request_id IN ("+database.List(&p, ids)+")", p...); err != nil {
			return err
		}
	}
	return releaseUploads(ctx, tx, accountID, ids)
}

// newRow is a request about to be stored. Without an idempotency key it is nil,
// and so is the fingerprint.
type newRow struct {
	request     feedback.Request
	key         *string
	fingerprint []byte
}

// order is by which rows are inserted: that of the index of idempotency keys.
func (n newRow) order() string {
	if n.key == nil {
		return ""
	}
	return n.request.AppID.String() + *n.key
}
