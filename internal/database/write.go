package database

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gatherkit/internal/deadline"
)

var errBroken = errors.New("the disk has failed; nothing is written any more")

// ErrStale says that a row changed after it was read. A function given to Write returns
// it to be run again.
var ErrStale = errors.New("the row was changed meanwhile")

// groupTimeout bounds one shared transaction.
var groupTimeout = deadline.Of(20 * time.Second)

const (
	// maxGroup is how many writes share a transaction.
	maxGroup = 256
	// maxQueue is how many writes may wait; Write refuses one more.
	maxQueue = 1024
	// maxTries is how often a transaction that lost a race is run.
	maxTries = 8
	// checkpointAt is how many pages of SQLite's log wait before they are moved to its file.
	checkpointAt = 1000
)

// transaction is work that is committed completely or not at all. Its context is not the
// caller's: on SQLite, a caller that leaves would undo the work of others in its group.
type transaction = func(context.Context, *sql.Tx) error

// Write runs fn in a transaction and returns after it is durable. fn may run more than
// once, so it must set its results and not add to them, and must change nothing but the
// transaction. An error of fn undoes its work and is returned. When fn returns
// ErrStale, or PostgreSQL rolls the transaction back because of another one, Write runs
// fn again, up to eight times.
func (db *DB) Write(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	var err error
	for try := range maxTries {
		if try > 0 {
			db.retried.Add(1)
		}
		if db.broken.Load() {
			return errBroken
		}
		if db.writes != nil {
			var failed error
			if failed, err = db.writes.Do(ctx, struct{}{}, fn); err == nil {
				err = failed
			}
		} else {
			err = db.transact(ctx, fn)
		}
		if !errors.Is(err, ErrStale) && !raced(err) {
			return err
		}
	}
	return err
}

// WritePart is Write for what takes long, such as a part of a change of many rows. On SQLite, which has one writer, it
// waits until no other one is written, and accounts take turns: so a short write waits for one of them at most, however
// many are made at once.
func (db *DB) WritePart(ctx context.Context, account [16]byte, fn func(context.Context, *sql.Tx) error) error {
	if db.parts != nil {
		if err := db.parts.Acquire(ctx, account, 1); err != nil {
			return err
		}
		defer db.parts.Release(account, 1)
	}
	return db.Write(ctx, fn)
}

// transact is Write on PostgreSQL.
func (db *DB) transact(ctx context.Context, fn transaction) error {
	began := time.Now()
	defer func() { db.observe(time.Since(began)) }()
	// After waiting for a lock, a transaction must see what was committed meanwhile. A
	// server may have a stricter default, which would show the state before.
	tx, err := db.writer.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing, and otherwise the cause is returned, also of a panic
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	db.tell()
	return nil
}

// tell calls what waits for commits.
func (db *DB) tell() {
	for _, fn := range db.committed {
		fn()
	}
}

// writeGroup is Write on SQLite: the transactions of many callers in one, each behind a
// savepoint, so that one that fails does not undo the others.
func (db *DB) writeGroup(ctx context.Context, _ struct{}, fns []transaction) ([]error, error) {
	began := time.Now()
	defer func() { db.observe(time.Since(began)) }()
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, db.broke(err, false)
	}
	failed := make([]error, len(fns))
	for i, fn := range fns {
		if failed[i], err = savepoint(ctx, tx, fn); err != nil {
			_ = tx.Rollback()
			return nil, db.broke(err, false)
		}
	}
	if err := tx.Commit(); err != nil {
		_ = tx.Rollback()
		return nil, db.broke(err, true)
	}
	db.tell()
	db.checkpoint(ctx)
	return failed, nil
}

// checkpoint moves SQLite's log to its file when it is long. SQLite could do
// so automatically, but would not report its errors (sqlite.org/c3ref/wal_autocheckpoint.html).
func (db *DB) checkpoint(ctx context.Context) {
	var busy, pages, moved int
	err := db.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &pages, &moved)
	if err == nil && pages-moved >= checkpointAt {
		_, err = db.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	}
	_ = db.broke(err, true) // the transaction is in the log, so it succeeds anyway
}

// savepoint runs fn and undoes its work if it fails. The second result is an error that
// ends the whole group.
func savepoint(ctx context.Context, tx *sql.Tx, fn transaction) (failed, err error) {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT member"); err != nil {
		return nil, err
	}
	failed = fn(ctx, tx)
	if failed != nil {
		if undoesGroup(failed) {
			return nil, failed
		}
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO member"); err != nil {
			return nil, err
		}
	}
	_, err = tx.ExecContext(ctx, "RELEASE member")
	return failed, err
}

// broke ends all writes if err says that the disk cannot be trusted any more.
func (db *DB) broke(err error, committing bool) error {
	if breaksFile(err, committing) && db.broken.CompareAndSwap(false, true) {
		db.log.Error("the disk has failed; the process must end", "error", db.Explain(err))
		if db.fatal != nil {
			db.fatal(err)
		}
	}
	return err
}
