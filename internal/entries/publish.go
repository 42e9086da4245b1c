package entries

import (
	"context"
	"database/sql"
	"errors"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Publish publishes an entry, and completes its requests if complete is true. If at is not nil, both happen
// then, as the same actor. It returns ErrEntryNotFound or an error of Entry.Schedule.
func (e *Entries) Publish(
	ctx context.Context, accountID, id feedback.ID, by feedback.Actor, at *feedback.Time, complete bool,
) (entry feedback.Entry, err error) {
	err = e.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		old, err := e.locked(ctx, tx, accountID, id)
		if err != nil {
			return err
		}
		entry = old
		now := feedback.At(e.now())
		if at == nil {
			entry.Publish(now)
			return e.save(ctx, tx, accountID, by, old, &entry, complete)
		}
		if err := entry.Schedule(*at, now, complete, by.Quiet); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE entries SET actor_kind = $3, actor_id = $4 WHERE account_id = $1 AND id = $2",
			accountID, id, by.Kind, by.ID)
		if err != nil {
			return err
		}
		return e.save(ctx, tx, accountID, by, old, &entry, false)
	})
	return entry, err
}

// Due is a scheduled entry.
type Due struct {
	AccountID, ID feedback.ID
	At            feedback.Time
}

// Item is the work of publishing the entry.
func (d Due) Item() aside.Item {
	return aside.Item{AccountID: d.AccountID, Kind: aside.Entry, Subject: d.ID.String()}
}

// SelectDue reads the scheduled entries that are due at the time $1, of all accounts. %s is the place of a
// condition about the account.
const SelectDue = "SELECT account_id, id, publish_at FROM" +
	" (SELECT account_id, id, publish_at FROM entries WHERE publish_at <= $1) AS scheduled %s ORDER BY publish_at, id"

// ScanDue reads a row of SelectDue.
func ScanDue(r database.Row) (d Due, err error) {
	err = r.Scan(&d.AccountID, &d.ID, &d.At)
	return d, err
}

// PublishDue publishes a scheduled entry, unless somebody has changed the time or has deleted it, or the time
// has not come.
func (e *Entries) PublishDue(ctx context.Context, due Due) error {
	err := e.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := aside.Done(ctx, tx, due.Item()); err != nil {
			return err
		}
		old, err := e.locked(ctx, tx, due.AccountID, due.ID)
		if err != nil {
			return err
		}
		entry, now := old, feedback.At(e.now())
		if old.State != feedback.Scheduled || *old.PublishAt > now {
			return nil
		}
		by, err := scheduledBy(ctx, tx, due.AccountID, due.ID)
		if err != nil {
			return err
		}
		by.Quiet = old.Quiet
		entry.Publish(now)
		return e.save(ctx, tx, due.AccountID, by, old, &entry, old.Complete)
	})
	if errors.Is(err, feedback.ErrEntryNotFound) {
		return nil
	}
	return err
}

// scheduledBy returns who has scheduled an entry, or the service if that user or token was removed.
func scheduledBy(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) (feedback.Actor, error) {
	var by feedback.Actor
	var remains bool
	err := tx.QueryRowContext(ctx, `SELECT e.actor_kind, e.actor_id,
		EXISTS (SELECT 1 FROM users u WHERE u.account_id = $1 AND u.id = e.actor_id) OR
		EXISTS (SELECT 1 FROM access_tokens t WHERE t.account_id = $1 AND t.id = e.actor_id AND t.revoked_at IS NULL)
		FROM entries e WHERE e.account_id = $1 AND e.id = $2`, accountID, id).Scan(&by.Kind, &by.ID, &remains)
	if !remains {
		by = feedback.Service()
	}
	return by, err
}
