// Package aside sets work in the background aside that has failed, so that other work goes on. Work that was set aside
// is tried again until it succeeds, at least once a day. Meanwhile, its account and the operator can see why it fails.
package aside

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

// Kind is a kind of work.
type Kind string

// The kinds of work, and what the subject of each is.
const (
	Follow    Kind = "mail follow"  // noticing that mail is due about a request: its id
	Write     Kind = "mail compose" // writing a mail about news: the app and the hash of the address
	Digest    Kind = "mail digest"  // writing a digest: the user
	Index     Kind = "index"        // updating the search index: the request
	Entry     Kind = "entries"      // publishing an entry of a changelog: the entry
	Purge     Kind = "purge"        // removing a deleted app: the app
	Departure Kind = "unassign"     // unassigning the requests of a removed user: the user
)

// Item is a piece of work.
type Item struct {
	AccountID feedback.ID
	Kind      Kind
	Subject   string
}

// Failure is an item that was set aside.
type Failure struct {
	Item
	Attempts int
	Since    feedback.Time // when it failed first
	RetryAt  feedback.Time
	Error    string
}

const (
	// maxError is how many bytes of an error are stored.
	maxError = 500
	// dueAtOnce and maxWaiting are how many items Due and Waiting return at most.
	dueAtOnce  = 20
	maxWaiting = 1000
	// forgotten is how long after its last attempt an item is no longer work: it was tried again every day.
	forgotten = 3 * 24 * time.Hour
)

// backOff is how long to wait after the first failure, the second, and so on.
var backOff = []time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour,
	24 * time.Hour,
}

// List is the work of a database that was set aside.
type List struct {
	db  *database.DB
	log *slog.Logger
	now func() time.Time
}

// New returns the list of a database.
func New(db *database.DB, log *slog.Logger, now func() time.Time) *List { return &List{db, log, now} }

// Try does a piece of work. If that fails or panics, Try sets the item aside and returns when to try it again. If it
// succeeds, the time is 0; the work then calls Done in its transaction. Try returns an error if the work fails because
// the database is away, or cannot be set aside.
func (l *List) Try(ctx context.Context, item Item, do func() error) (again feedback.Time, err error) {
	failed := sweep.Recovered(do)
	if failed == nil || sweep.GivesUp(ctx, l.db, failed) {
		return 0, failed
	}
	reason, _, _ := strings.Cut(failed.Error(), "\n") // further lines are those of a stack
	var attempts int
	err = l.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `INSERT INTO set_aside (account_id, kind, subject, attempts, since, tried_at, due_at, error)
			VALUES ($1, $2, $3, 1, $4, $4, $4, $5) ON CONFLICT (account_id, kind, subject)
			DO UPDATE SET attempts = set_aside.attempts + 1, tried_at = excluded.tried_at, error = excluded.error RETURNING attempts`,
			item.key(feedback.At(l.now()), database.Storable(reason, maxError))...).Scan(&attempts)
		if err != nil {
			return err
		}
		again = feedback.At(l.now().Add(backOff[min(attempts, len(backOff))-1]))
		_, err = tx.ExecContext(ctx, "UPDATE set_aside SET due_at = $4"+ofItem, item.key(again)...)
		return err
	})
	if err != nil {
		return 0, errors.Join(failed, err)
	}
	l.log.Warn("background work failed; it was set aside and will be tried again", "work", item.Kind, "account", item.AccountID,
		"subject", item.Subject, "attempts", attempts, "error", failed)
	return again, nil
}

const ofItem = " WHERE account_id = $1 AND kind = $2 AND subject = $3"

func (i Item) key(more ...any) []any {
	return append([]any{i.AccountID, string(i.Kind), i.Subject}, more...)
}

// Done removes an item that was set aside, if it was. Work calls it in its transaction.
func Done(ctx context.Context, tx *sql.Tx, item Item) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM set_aside"+ofItem, item.key()...)
	return err
}

func scanItem(r database.Row) (i Item, err error) {
	return i, r.Scan(&i.AccountID, (*string)(&i.Kind), &i.Subject)
}

// Due returns some items of a kind that must be tried again.
func (l *List) Due(ctx context.Context, kind Kind) ([]Item, error) {
	return database.All(ctx, l.db.Reader(), scanItem, "SELECT account_id, kind, subject FROM set_aside WHERE kind = $1 AND due_at <= $2"+
		" ORDER BY due_at LIMIT CAST($3 AS BIGINT)", string(kind), feedback.At(l.now()), dueAtOnce)
}

// Waiting returns the items of a kind that must not be tried yet.
func (l *List) Waiting(ctx context.Context, kind Kind) (map[Item]bool, error) {
	found, err := database.All(ctx, l.db.Reader(), scanItem, "SELECT account_id, kind, subject FROM set_aside WHERE kind = $1 AND due_at > $2"+
		" ORDER BY due_at LIMIT CAST($3 AS BIGINT)", string(kind), feedback.At(l.now()), maxWaiting)
	waiting := make(map[Item]bool, len(found))
	for _, item := range found {
		waiting[item] = true
	}
	return waiting, err
}

// Of returns up to limit items of an account and of some kinds.
func (l *List) Of(ctx context.Context, accountID feedback.ID, limit int, kinds ...Kind) ([]Failure, error) {
	p := database.Parameters{accountID, limit}
	names := make([]string, len(kinds))
	for n, kind := range kinds {
		names[n] = string(kind)
	}
	return database.All(ctx, l.db.Reader(), scanFailure, "SELECT "+columns+" FROM set_aside WHERE account_id = $1"+
		" AND kind IN ("+database.List(&p, names)+") ORDER BY kind, subject LIMIT CAST($2 AS BIGINT)", p...)
}

const columns = "account_id, kind, subject, attempts, since, due_at, error"

func scanFailure(r database.Row) (f Failure, err error) {
	return f, r.Scan(&f.AccountID, (*string)(&f.Kind), &f.Subject, &f.Attempts, &f.Since, &f.RetryAt, &f.Error)
}

// All returns up to limit items of all accounts.
func (l *List) All(ctx context.Context, limit int) ([]Failure, error) {
	return database.All(ctx, l.db.Reader(), scanFailure, "SELECT "+columns+" FROM set_aside ORDER BY kind, due_at"+
		" LIMIT CAST($1 AS BIGINT)", limit)
}

// Counts returns how many items of each kind there are.
func (l *List) Counts(ctx context.Context) (map[Kind]int64, error) {
	counts := map[Kind]int64{Follow: 0, Write: 0, Digest: 0, Index: 0, Entry: 0, Purge: 0, Departure: 0}
	err := database.Each(ctx, l.db.Reader(), func(r database.Row) error {
		var kind Kind
		var n int64
		err := r.Scan((*string)(&kind), &n)
		counts[kind] = n
		return err
	}, "SELECT kind, COUNT(*) FROM set_aside GROUP BY kind")
	return counts, err
}

// Sweep forgets items of some accounts that were not tried for days, because what they were about is gone.
func (l *List) Sweep(ctx context.Context, accounts []feedback.ID) error {
	return sweep.Rows{Table: "set_aside", Key: "kind, subject", Where: "tried_at < $1"}.
		Delete(ctx, l.db, accounts, feedback.At(l.now().Add(-forgotten)))
}
