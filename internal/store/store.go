// Package store holds every SQL statement of the service, written once for
// SQLite and PostgreSQL. A method is one thing that must happen whole: callers
// never see a transaction. Statements use $1…$n, and every one on a table of
// account data says account_id = $1.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"gatherkit/internal/batch"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// Options say where the store is and what it depends on.
type Options struct {
	// Database is a postgres:// URL; empty means SQLite in Folder.
	Database string
	Folder   string

	Now  func() time.Time
	Rand io.Reader
	Log  *slog.Logger

	// Fatal is called once when the disk has failed in a way after which nothing
	// may be acknowledged any more: the process must end. The store refuses every
	// write from then on.
	Fatal func(error)
	// ObserveGroup is told how many submissions shared a transaction; may be nil.
	ObserveGroup func(size int)
	// RemoveFile removes the bytes of a file that nobody needs any more, if there are
	// any; nil where there is no place for files.
	RemoveFile func(context.Context, feedback.ID) error
	// FilesSentPast says that files are sent straight to where they are kept, past the
	// service, which learns that one has come when it is attached.
	FilesSentPast bool
}

// Store is the service's memory. Its methods are safe for concurrent use and may
// be called from several processes on the same database.
type Store struct {
	dialect dialect
	folder  string // of the SQLite file
	now     func() time.Time
	rand    io.Reader
	ids     *feedback.IDs
	log     *slog.Logger

	// On PostgreSQL writer and reader are the same pool.
	writer, reader *sql.DB
	link           *link // to PostgreSQL, else nil
	// writes joins the transactions of SQLite, whose file has one writer; nil on PostgreSQL.
	writes  *batch.Batcher[struct{}, transaction, error]
	submits *batch.Batcher[feedback.ID, Submission, submitted]
	keys    *batch.Batcher[string, struct{}, feedback.App] // look-ups, by the API key

	arrived atomic.Int64 // submissions that this process has been given

	words vocabularies
	// searches divides half of the processors among the apps in which similar requests are
	// searched, so that the other calls go on.
	searches *fair.Pool[feedback.ID]

	broken, closed atomic.Bool
	fatal          func(error)
	removeFile     func(context.Context, feedback.ID) error
	unsentLife     time.Duration // of files that have not come, as far as the store knows
}

var (
	errBroken = errors.New("the disk has failed; nothing is written any more")
	// errStale says that a row changed between reading and saving it.
	errStale = errors.New("the row was changed meanwhile")
)

const (
	// groupTimeout bounds one shared transaction.
	groupTimeout = 20 * time.Second
	// maxQueue is how many writes may wait; beyond it callers are asked to come again.
	maxQueue = 1024
	// maxKeyLookups is how many API keys are looked up at once; it leaves connections
	// for others.
	maxKeyLookups = 10
	// maxTries is how often a transaction that lost a race is run.
	maxTries = 8
	// checkpointAt is how many pages of SQLite's log wait before they are moved to its file.
	checkpointAt = 1000
)

// Open opens the store, creating the SQLite file when there is none, and brings
// its schema up to date.
func Open(ctx context.Context, o Options) (*Store, error) {
	half := int64(max(1, runtime.GOMAXPROCS(0)/2))
	s := &Store{
		folder: o.Folder, now: o.Now, rand: o.Rand, ids: feedback.NewIDs(o.Now, o.Rand), log: o.Log, fatal: o.Fatal,
		removeFile: o.RemoveFile, unsentLife: feedback.SendLife, searches: fair.New[feedback.ID](half, half),
	}
	if o.FilesSentPast {
		s.unsentLife = feedback.UploadLife
	}
	var err error
	submitLanes := 1
	if o.Database != "" {
		s.dialect = postgresDialect
		submitLanes = 4
		if s.writer, s.link, err = openPostgres(o.Database, o.Log); err != nil {
			return nil, err
		}
		s.reader = s.writer
	} else {
		s.dialect = sqliteDialect
		if s.writer, err = openSQLite(o.Folder, false); err != nil {
			return nil, err
		}
		if s.reader, err = openSQLite(o.Folder, true); err != nil {
			return nil, errors.Join(err, s.writer.Close())
		}
		s.writes = batch.New(s.writeGroup, batch.Options{MaxGroup: 256, MaxQueue: maxQueue, Parallel: 1, Timeout: groupTimeout})
	}
	s.submits = batch.New(s.submitGroup, batch.Options{
		MaxGroup: maxSubmitGroup, MaxQueue: maxQueue, Parallel: submitLanes, Timeout: groupTimeout, Alone: dataFault, Observe: o.ObserveGroup,
	})
	s.keys = batch.New(s.appByKey, batch.Options{MaxGroup: maxQueue, MaxQueue: maxQueue, Parallel: maxKeyLookups, Timeout: groupTimeout})
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.link != nil { // until now, an error says more than that the server is away
		s.link.begin()
	}
	return s, nil
}

// Close waits for the writes that were accepted and closes the database.
func (s *Store) Close() error {
	s.keys.Close()
	s.submits.Close()
	if s.writes != nil {
		s.writes.Close()
	}
	s.closed.Store(true)
	if s.link != nil {
		s.link.close()
	}
	err := s.reader.Close()
	if s.writer != s.reader {
		err = errors.Join(err, s.writer.Close())
	}
	return err
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if s.broken.Load() {
		return errBroken
	}
	var one int
	return s.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// Stats are figures for the operator's dashboards.
type Stats struct {
	Queued       int // writes that wait for their transaction
	Conns, InUse int // connections to the database, and how many are busy
	Waited       int64
}

// Stats returns the figures of this moment.
func (s *Store) Stats() Stats {
	pool := s.reader.Stats()
	stats := Stats{Queued: s.submits.Queued(), Conns: pool.OpenConnections, InUse: pool.InUse, Waited: pool.WaitCount}
	if s.writes != nil {
		stats.Queued += s.writes.Queued()
	}
	return stats
}

// transaction is what must happen whole. Its context is not the caller's: on
// SQLite an impatient caller would undo the work of those beside it.
type transaction func(context.Context, *sql.Tx) error

// write runs fn in a transaction and returns after it is durable. fn may run more
// than once, so it must set its results rather than add to them; it touches
// nothing but the transaction, and an error of fn undoes what it did.
func (s *Store) write(ctx context.Context, fn transaction) error {
	var err error
	for range maxTries {
		if s.broken.Load() {
			return errBroken
		}
		if s.writes != nil {
			var failed error
			if failed, err = s.writes.Do(ctx, struct{}{}, fn); err == nil {
				err = failed
			}
		} else {
			err = s.transact(ctx, fn)
		}
		if !errors.Is(err, errStale) && !raced(err) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", feedback.ErrUnavailable, err)
}

// transact is write on PostgreSQL.
func (s *Store) transact(ctx context.Context, fn transaction) error {
	// Behind a gate, a transaction must see what was committed while it waited; a
	// server may be set up with a stricter level, which would show the state before.
	tx, err := s.writer.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	if err := fn(ctx, tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// writeGroup is write on SQLite: the transactions of many callers in one, each
// behind a savepoint of its own, so that a failing neighbour fails alone.
func (s *Store) writeGroup(ctx context.Context, _ struct{}, fns []transaction) ([]error, error) {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, s.broke(err, false)
	}
	failed := make([]error, len(fns))
	for i, fn := range fns {
		if failed[i], err = savepoint(ctx, tx, fn); err != nil {
			_ = tx.Rollback()
			return nil, s.broke(err, false)
		}
	}
	if err := tx.Commit(); err != nil {
		_ = tx.Rollback()
		return nil, s.broke(err, true)
	}
	s.checkpoint(ctx)
	return failed, nil
}

// checkpoint moves SQLite's log to its file when it is long. SQLite would do so by
// itself, but keeps its errors for itself as well (sqlite.org/c3ref/wal_autocheckpoint.html).
func (s *Store) checkpoint(ctx context.Context) {
	var busy, pages, moved int
	err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &pages, &moved)
	if err == nil && pages-moved >= checkpointAt {
		_, err = s.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	}
	_ = s.broke(err, true) // what was committed is in the log
}

// savepoint runs fn and undoes what it did when it failed. The second result is
// an error that ends the whole group.
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

// broke stops the store when err says that the disk cannot be trusted any more.
func (s *Store) broke(err error, committing bool) error {
	if breaksFile(err, committing) && s.broken.CompareAndSwap(false, true) {
		s.log.Error("the disk has failed; the process must end", "error", err)
		if s.fatal != nil {
			s.fatal(err)
		}
	}
	return err
}

// queryer is a pool of connections or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// row is one row of an answer.
type row interface{ Scan(dest ...any) error }

// all returns what scan makes of every row.
func all[T any](ctx context.Context, q queryer, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	list := []T{}
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, rows.Err()
}

// changed runs a statement and returns how many rows it changed.
func changed(ctx context.Context, q queryer, query string, args ...any) (int64, error) {
	result, err := q.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// orNotFound turns "no row" into the refusal that callers get to see.
func orNotFound(err error, refusal *feedback.Error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return refusal
	}
	return err
}

// parameters collects the values of a statement that is put together from fixed parts.
type parameters []any

// add takes a value and returns its placeholder.
func (p *parameters) add(v any) string {
	*p = append(*p, v)
	return fmt.Sprintf("$%d", len(*p))
}

// list takes several values and returns "$n,$m,…".
func list[T any](p *parameters, values []T) string {
	marks := make([]string, len(values))
	for i, v := range values {
		marks[i] = p.add(v)
	}
	return strings.Join(marks, ",")
}
