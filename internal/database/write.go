package database

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"gatherkit/internal/deadline"
	"gatherkit/internal/fair"
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
	// maxQueue is how many writes may wait, half of them of one account; Write refuses one more.
	maxQueue = 2048
	// maxTries is how often a transaction that lost a race is run.
	maxTries = 8
	// turnTime is how long an account may write in a transaction of several accounts, and groupTime how long all may.
	// Afterwards, the transaction ends before an account's next write, so that one which writes much does not let others
	// wait. Each has its first write in any case.
	turnTime  = time.Millisecond
	groupTime = 4 * time.Millisecond
	// checkpointAt is how many pages of SQLite's log wait before they are moved to its file.
	checkpointAt = 1000
)

// transaction is work that is committed completely or not at all. Its context is not the
// caller's: on SQLite, a caller that leaves would undo the work of others in its group.
type transaction = func(context.Context, *sql.Tx) error

// write is a transaction and the account whose it is (fair.Who).
type write struct {
	by [16]byte
	fn transaction
}

// writers are the accounts that write on SQLite, each with the number of its writes.
type writers struct {
	mu sync.Mutex
	of map[[16]byte]int
}

// enter counts a write until leave. Writes of nobody in particular, such as background work, do not count.
func (w *writers) enter(by [16]byte) (leave func()) {
	if by == [16]byte{} {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of[by]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.of[by]--
		if w.of[by] == 0 {
			delete(w.of, by)
		}
	}
}

// several reports whether more than one account writes.
func (w *writers) several() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.of) > 1
}

// Write runs fn in a transaction and returns after it is durable. fn may run more than
// once, so it must set its results and not add to them, and must change nothing but the
// transaction. An error of fn undoes its work and is returned. When fn returns
// ErrStale, or PostgreSQL rolls the transaction back because of another one, Write runs
// fn again, up to eight times. On SQLite, accounts take turns.
func (db *DB) Write(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	return db.write(ctx, db.writer, fn)
}

// WriteTogether is Write for the work of several accounts. On PostgreSQL, it waits at most 100 ms for a lock, so that
// none of them waits for what somebody does in another; LockRefused reports the error. Its transactions have one
// connection, which knows their statements, and run one after the other.
func (db *DB) WriteTogether(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	return db.write(ctx, db.together, fn)
}

// write is Write with a connection of a pool to PostgreSQL.
func (db *DB) write(ctx context.Context, pool *sql.DB, fn transaction) error {
	var err error
	w := write{fair.Who(ctx), fn}
	began := time.Now()
	defer func() { db.slow.note(db.log, w.by, began, time.Now()) }()
	if db.writes != nil {
		defer db.writers.enter(w.by)()
	}
	for try := range maxTries {
		if try > 0 {
			db.retried.Add(1)
		}
		if db.broken.Load() {
			return errBroken
		}
		if db.writes != nil {
			var failed error
			if failed, err = db.writes.Do(ctx, struct{}{}, w); err == nil {
				err = failed
			}
		} else {
			err = db.transact(ctx, pool, fn)
		}
		if !errors.Is(err, ErrStale) && !raced(err) {
			return err
		}
	}
	return err
}

// WriteFor is Write for an account. Write is enough where ctx is that of a call, which has an account (fair.By).
func (db *DB) WriteFor(ctx context.Context, account [16]byte, fn func(context.Context, *sql.Tx) error) error {
	return db.Write(fair.By(ctx, account), fn)
}

// WritePart is WriteFor for what takes long, such as a part of a change of many rows. On SQLite, which has one writer, it
// waits until no other one is written, and accounts take turns: so a short write waits for one of them at most, however
// many are made at once.
func (db *DB) WritePart(ctx context.Context, account [16]byte, fn func(context.Context, *sql.Tx) error) error {
	if db.parts != nil {
		if err := db.parts.Acquire(ctx, account, 1); err != nil {
			return err
		}
		defer db.parts.Release(account, 1)
	}
	return db.WriteFor(ctx, account, fn)
}

// transact is Write on PostgreSQL.
func (db *DB) transact(ctx context.Context, pool *sql.DB, fn transaction) error {
	began := time.Now()
	defer func() { db.observe(time.Since(began)) }()
	// After waiting for a lock, a transaction must see what was committed meanwhile. A
	// server may have a stricter default, which would show the state before.
	tx, err := pool.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
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
// savepoint, so that one that fails does not undo the others. One that is alone needs none. The group ends before the
// second write of an account if others have waited for long enough.
func (db *DB) writeGroup(ctx context.Context, _ struct{}, ws []write) ([]error, error) {
	began := time.Now()
	defer func() { db.observe(time.Since(began)) }()
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, db.broke(err, false)
	}
	member := savepoint
	if len(ws) == 1 {
		member = alone
	}
	var failed []error
	took := map[[16]byte]time.Duration{}
	for _, w := range ws {
		own, again := took[w.by]
		if again && (own >= db.turnTime || time.Since(began) >= db.groupTime) && db.writers.several() {
			break
		}
		start := time.Now()
		one, err := member(ctx, tx, w.fn)
		took[w.by] = own + time.Since(start)
		if err != nil {
			_ = tx.Rollback()
			return nil, db.broke(err, false)
		}
		failed = append(failed, one)
	}
	if len(ws) == 1 && failed[0] != nil {
		return failed, db.broke(tx.Rollback(), false)
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

// alone runs fn in a transaction of its own, which the caller undoes if it fails.
func alone(ctx context.Context, tx *sql.Tx, fn transaction) (failed, err error) {
	if failed = fn(ctx, tx); failed != nil && undoesGroup(failed) {
		return nil, failed
	}
	return failed, nil
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
