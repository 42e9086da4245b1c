package mail

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"time"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/portal"
	"gatherkit/internal/readers"
	"gatherkit/internal/sweep"
)

const (
	// composeAtOnce is how many people a step looks at, and maxUpdates how many requests one mail has. Further
	// ones are in the next.
	composeAtOnce = 100
	maxUpdates    = 20
)

// compose writes some of the mails that are due, and reports whether there may be more.
func (s *Sender) compose(ctx context.Context) (more bool, err error) {
	turns, more, err := s.news.take(ctx, s.db, s.now(), composeAtOnce)
	failed := sweep.Errors{}
	failed.Add(err)
	for _, of := range turns {
		people, err := database.All(ctx, s.db.Reader(), func(r database.Row) (p person, err error) {
			p.accountID = of.accountID
			return p, r.Scan(&p.appID, &p.address)
		}, "SELECT app_id, address FROM (SELECT app_id, address, due_at FROM mail_follows WHERE account_id = $1 AND due_at <= $2"+
			" ORDER BY due_at LIMIT CAST($3 AS BIGINT)) AS due GROUP BY app_id, address ORDER BY MIN(due_at)",
			of.accountID, feedback.At(s.now()), of.most)
		failed.Add(err)
		for _, p := range people {
			failed.Add(s.composeFor(ctx, p))
		}
	}
	return more, failed.Err()
}

// told is what somebody was told of a request, and when the next mail about it is due.
type told struct {
	requestID      feedback.ID
	status         feedback.Status
	merged         bool
	at             feedback.Time
	firstAt, dueAt feedback.Time
}

// composeFor writes one mail about all that is due for a person. If it cannot, it tries again later.
func (s *Sender) composeFor(ctx context.Context, p person) error {
	item := p.item()
	again, err := s.aside.Try(ctx, item, func() error { return s.tellNews(ctx, p, item) })
	if err != nil || again == 0 {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE mail_follows SET due_at = $4"+ofPerson+" AND due_at < $4", p.key(again)...)
		return err
	})
}

// item is the work of writing to a person.
func (p person) item() aside.Item {
	return aside.Item{AccountID: p.accountID, Kind: aside.Write, Subject: p.appID.String() + " " + hex.EncodeToString(p.address)}
}

// tellNews writes one mail about all that is due for a person.
func (s *Sender) tellNews(ctx context.Context, p person, item aside.Item) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		p := p // the function may run again
		if err := aside.Done(ctx, tx, item); err != nil {
			return err
		}
		list, err := due(ctx, tx, p)
		if err != nil || len(list) == 0 {
			return err
		}
		known, err := p.lock(ctx, tx)
		if err != nil {
			return err
		}
		app, err := s.app(ctx, tx, p.accountID, p.appID)
		if !known || p.state != Confirmed || errors.Is(err, feedback.ErrAppNotFound) {
			return postpone(ctx, tx, p, list, nil) // Confirm makes it due again
		}
		if err != nil {
			return err
		}
		if at := p.writeAt(list, s.now()); at != nil {
			return postpone(ctx, tx, p, list, at)
		}
		at, err := s.mailAfter(ctx, tx, p.accountID)
		if err != nil {
			return err
		}
		if at != nil {
			return postpone(ctx, tx, p, list, at)
		}
		return s.write(ctx, tx, app, p, list[:min(len(list), maxUpdates)])
	})
}

// due returns a person's pending updates, earliest first. The + keeps SQLite from reading the updates of
// other people of the account.
func due(ctx context.Context, tx *sql.Tx, p person) ([]told, error) {
	return database.All(ctx, tx, func(r database.Row) (t told, err error) {
		return t, r.Scan(&t.requestID, (*string)(&t.status), &t.merged, &t.at, &t.firstAt, &t.dueAt)
	}, "SELECT request_id, told_status, told_merged, told_at, first_at, due_at FROM mail_follows"+ofPerson+
		" AND +due_at IS NOT NULL ORDER BY due_at, request_id LIMIT $4", p.key(maxUpdates+1)...)
}

// writeAt returns when a mail about the list should be written, or nil for now: when all changes have
// settled, but not long after the first, and for a daily pace a day after the last mail.
func (p person) writeAt(list []told, now time.Time) *feedback.Time {
	at, first := feedback.Time(0), list[0].firstAt
	for _, t := range list {
		at, first = max(at, t.dueAt), min(first, t.firstAt)
	}
	at = min(at, after(first, settleMost))
	if p.pace == Daily {
		at = max(at, after(p.mailedAt, 24*time.Hour))
	}
	if at <= feedback.At(now) {
		return nil
	}
	return &at
}

// postpone makes the list due at a time, or not at all.
func postpone(ctx context.Context, tx *sql.Tx, p person, list []told, at *feedback.Time) error {
	args := database.Parameters(p.key(at))
	ids := make([]feedback.ID, len(list))
	for n, t := range list {
		ids[n] = t.requestID
	}
	_, err := tx.ExecContext(ctx, "UPDATE mail_follows SET due_at = $4"+ofPerson+" AND request_id IN ("+
		database.List(&args, database.Padded(ids))+")", args...)
	return err
}

// write adds a mail about what differs from what the person was told, if anything does.
func (s *Sender) write(ctx context.Context, tx *sql.Tx, app feedback.App, p person, list []told) error {
	ids := make([]feedback.ID, len(list))
	for n, t := range list {
		ids[n] = t.requestID
	}
	requests, err := s.readers.Asked(ctx, tx, app, ids)
	if err != nil {
		return err
	}
	seen := make(map[feedback.ID]readers.Mine, len(requests))
	for _, r := range requests {
		seen[r.ID] = r
	}
	var updates []portal.Update
	var about *feedback.ID
	for _, t := range list {
		// What is visible can differ without news: by a quiet change.
		if r, visible := seen[t.requestID]; visible && r.NewsAt != nil && *r.NewsAt > t.at {
			if update, differs := t.update(app, r); differs {
				update.Stop = s.stopLink(p, t.requestID)
				updates, about = append(updates, update), &t.requestID
			}
			t.status, t.merged, t.at = r.Status, r.Merged, t.upTo(r)
		}
		_, err := tx.ExecContext(ctx, "UPDATE mail_follows SET told_status = $3, told_merged = $4, told_at = $5, first_at = NULL, due_at = NULL"+
			" WHERE account_id = $1 AND request_id = $2", p.accountID, t.requestID, string(t.status), t.merged, t.at)
		if err != nil {
			return err
		}
	}
	if len(updates) == 0 {
		return nil
	}
	_, err = tx.ExecContext(ctx, "UPDATE mail_people SET mailed_at = $4"+ofPerson, p.key(feedback.At(s.now()))...)
	if err != nil {
		return err
	}
	if len(updates) > 1 {
		about = nil
	}
	return s.addUpdateMail(ctx, tx, app, p, updates, about)
}

// update returns what is new in a request for a person, and whether anything is. A comment of their own is not.
func (t told) update(app feedback.App, r readers.Mine) (u portal.Update, differs bool) {
	u = portal.Update{Title: r.Title, Status: r.Status, Was: t.status, Label: r.Label, Merged: r.Merged && !t.merged}
	u.WasLabel = app.Settings.Statuses.Label(t.status)
	for _, c := range r.Comments {
		if !c.Mine && c.At > t.at {
			u.Comments = append(u.Comments, c.Body)
		}
	}
	return u, u.Status != u.Was || u.Merged || len(u.Comments) > 0
}

// upTo returns the time of the latest news in a request.
func (t told) upTo(r readers.Mine) feedback.Time {
	at := *r.NewsAt
	for _, c := range r.Comments {
		at = max(at, c.At)
	}
	return at
}

// ignoreDeleted returns nil if an app was deleted.
func ignoreDeleted(err error) error {
	if errors.Is(err, feedback.ErrAppNotFound) {
		return nil
	}
	return err
}
