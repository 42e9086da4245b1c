package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/row"
	"gatherkit/internal/uploads"
	"gatherkit/internal/webhook"
)

// Request returns a request of the account. It returns ErrRequestNotFound if the request does
// not exist or is in the bin.
func (s *Store) Request(ctx context.Context, accountID, id feedback.ID) (feedback.Request, error) {
	r, err := readRequest(ctx, s.db.Reader(), accountID, id)
	if err == nil && r.Box == feedback.Bin {
		err = feedback.ErrRequestNotFound
	}
	return r, err
}

// History returns a page of the log entries about a request, as changelog.OfRequest does. It returns
// ErrRequestNotFound if the request does not exist or is in the bin.
func (s *Store) History(
	ctx context.Context, accountID, requestID feedback.ID, before int64, limit int,
) ([]feedback.Event, int64, error) {
	if _, err := s.Request(ctx, accountID, requestID); err != nil {
		return nil, 0, err
	}
	return changelog.OfRequest(ctx, s.db.Reader(), accountID, requestID, before, limit)
}

// ChangeRequest reads a request, which may be in the bin, calls change to modify it, and
// saves the differences. It returns ErrRequestNotFound, ErrMerged if a merged request would
// get another status, a field error for an unknown assignee, or the error of change.
func (s *Store) ChangeRequest(
	ctx context.Context, accountID, id feedback.ID, by feedback.Actor, change func(*feedback.Request) error,
) (feedback.Request, error) {
	var r feedback.Request
	err := s.tallying(ctx, accountID, s.db.Write, func(ctx context.Context, tx *sql.Tx, known *tallied) (err error) {
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
		var roots []root
		if r.MergedIntoID != nil && r.Box != old.Box {
			roots, err = s.tallyRoots(ctx, tx, accountID, known, []feedback.ID{*r.MergedIntoID}, map[feedback.ID]feedback.Box{id: r.Box})
			if err != nil {
				return err
			}
		}
		r.Version++
		r.UpdatedAt = feedback.At(s.now())
		if err := s.saveRequest(ctx, tx, accountID, by, old, r); err != nil {
			return err
		}
		if err := s.move(ctx, tx, accountID, old, r); err != nil {
			return err
		}
		if err := s.saveRoots(ctx, tx, accountID, by, roots); err != nil {
			return err
		}
		if isNews(old, r) {
			if err := s.Readers.Tell(ctx, tx, accountID, by, after, r, r); err != nil {
				return err
			}
		}
		return changelog.Record(ctx, tx, accountID, r.UpdatedAt, feedback.Change{
			Kind: kindOfMove(old.Box, r.Box), Actor: by, AppID: &r.AppID, RequestID: &id, Before: before, After: after,
		})
	})
	return r, err
}

// alter calls change, and returns ErrMerged if it changes the status of a merged request,
// which is duplicate until the request is unmerged.
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

// lockRequest locks the gate of the request's app and returns the request. It reads the
// request twice: first to find the app, and again once no other transaction can change it.
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

// errGateNotLocked is a fault of the service: while this transaction had locked the gate of an
// app, another one changed the app or one of its requests.
var errGateNotLocked = errors.New("an app or a request was changed by a transaction that did not lock the app's gate")

// saveRequest saves the changes from old to r. The caller has read old after it locked the
// gate. saveRequest returns a field error if the new assignee is not a user of the account.
func (s *Store) saveRequest(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, old, r feedback.Request,
) error {
	if reassigned(old, r) {
		if err := checkAssignee(ctx, tx, accountID, *r.AssigneeID); err != nil {
			return err
		}
	}
	p := database.Parameters{accountID, r.ID, old.Version}
	n, err := database.Changed(ctx, tx, "UPDATE requests SET "+
		row.Assign(&p, &r, "box", "status", "title", "description", "tags", "hidden", "assignee_id", "eta", "version", "updated_at")+", "+
		setAnswered(p.Add(answeredAt(isAnswer(by, old, r), r.UpdatedAt)))+", "+
		setNews("news_at", p.Add(newsAt(by, isNews(old, r), r.UpdatedAt)))+" WHERE account_id = $1 AND id = $2 AND version = $3", p...)
	if err != nil {
		return err
	}
	if n == 0 {
		return errGateNotLocked
	}
	if slices.Equal(old.Tags, r.Tags) {
		return nil
	}
	return s.saveTags(ctx, tx, accountID, r)
}

// reassigned reports whether r has an assignee that old does not have.
func reassigned(old, r feedback.Request) bool {
	return r.AssigneeID != nil && (old.AssigneeID == nil || *old.AssigneeID != *r.AssigneeID)
}

// checkAssignee returns a field error if the assignee is not a user of the account. It writes
// the user's row, so that a concurrent RemoveUser waits, sees the request, and unassigns it.
func checkAssignee(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) error {
	n, err := database.Changed(ctx, tx, "UPDATE users SET role = role WHERE account_id = $1 AND id = $2", accountID, id)
	if err == nil && n == 0 {
		return feedback.Invalid("requests", "assignee_id", "assignee_id must be the id of a user of the account; users-list has them.")
	}
	return err
}

// AddRequest stores a request that a user has entered. It returns ErrAppNotFound, or a field
// error if the assignee is not a user of the account.
func (s *Store) AddRequest(
	ctx context.Context, accountID feedback.ID, by feedback.Actor, r feedback.Request,
) (feedback.Request, error) {
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
		r.CreatedAt, r.UpdatedAt = r.ID.Time(), r.ID.Time() // see arrive
		if _, err := s.insertRequests(ctx, tx, []newRow{{accountID: accountID, request: r}}); err != nil {
			return err
		}
		if err := s.saveTags(ctx, tx, accountID, r); err != nil {
			return err
		}
		if by.OfTeam() && r.Status != feedback.Opened {
			_, err := tx.ExecContext(ctx, "UPDATE requests SET answered_after = 0 WHERE account_id = $1 AND id = $2", accountID, r.ID)
			if err != nil {
				return err
			}
		}
		return changelog.Record(ctx, tx, accountID, r.CreatedAt, feedback.Change{
			Kind: feedback.RequestCreated, Actor: by, AppID: &r.AppID, RequestID: &r.ID,
		})
	})
	return r, err
}

// RequestsOfApp returns ErrRequestNotFound unless all requests exist and belong to the app.
func (s *Store) RequestsOfApp(ctx context.Context, accountID, appID feedback.ID, ids []feedback.ID) error {
	apps, err := appsOf(ctx, s.db.Reader(), accountID, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if apps[id] != appID {
			return feedback.ErrRequestNotFound
		}
	}
	return nil
}

// changePart runs do, which changes something that belongs to a request, in a transaction that has locked
// the gate. Unless do returns nil, it logs the change and changes the version of the request. It returns
// ErrRequestNotFound if the request does not exist or is in the bin.
func (s *Store) changePart(
	ctx context.Context, accountID, requestID feedback.ID, do func(ctx context.Context, tx *sql.Tx) (*feedback.Change, error),
) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := s.lockCommented(ctx, tx, accountID, requestID)
		if err != nil {
			return err
		}
		change, err := do(ctx, tx)
		if err != nil || change == nil {
			return err
		}
		return s.countComments(ctx, tx, accountID, r, feedback.At(s.now()), commentEffect{}, *change)
	})
}

// move updates the counters after a request has changed its box or status.
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
	return r, database.OrNotFound(err, feedback.ErrRequestNotFound)
}

// insertRequests inserts the rows whose idempotency key is not used yet, and returns the ids
// of these.
func (s *Store) insertRequests(ctx context.Context, tx *sql.Tx, rows []newRow) (map[feedback.ID]bool, error) {
	added := make(map[feedback.ID]bool, len(rows))
	for _, piece := range database.Pieces(rows) {
		var args []any
		for _, n := range piece {
			readers := 0
			if n.reader != nil {
				readers = 1
			}
			args = append(row.Values(append(args, n.accountID), &n.request), n.key, n.fingerprint, n.reader, readers, n.notify)
		}
		ids, err := database.All(ctx, tx, database.One[feedback.ID],
			"INSERT INTO requests (account_id, "+row.Columns+", idempotency_key, fingerprint, reader, readers, notify) VALUES "+
				database.Placeholders(len(piece), len(args)/len(piece))+" ON CONFLICT DO NOTHING RETURNING id", args...)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			added[id] = true
		}
	}
	return added, nil
}

// removeChildren deletes the rows that belong to requests, which are about to be purged. It
// releases their files, which the worker deletes.
func removeChildren(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	for _, table := range []string{
		"changes", "request_tags", "votes", "comments", "mentions", "request_links", "status_links", "held_comments", "entry_requests",
	} {
		p := database.Parameters{accountID}
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+
			" WHERE account_id = $1 AND request_id IN ("+database.List(&p, ids)+")", p...); err != nil {
			return err
		}
	}
	if err := webhook.RemoveRequests(ctx, tx, accountID, ids); err != nil {
		return err
	}
	if err := mail.RemoveRequests(ctx, tx, accountID, ids); err != nil {
		return err
	}
	return uploads.Release(ctx, tx, accountID, ids)
}

// newRow is a request to insert.
type newRow struct {
	accountID   feedback.ID
	request     feedback.Request
	key         *string // idempotency key, or nil
	fingerprint []byte  // nil without a key
	reader      feedback.Reader
	notify      *string // see Submission.Notify; nil for none
}

// order returns the sort key in which rows are inserted: by account, app and idempotency key.
func (n newRow) order() string {
	key := ""
	if n.key != nil {
		key = *n.key
	}
	return n.accountID.String() + n.request.AppID.String() + key
}
