package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"gatherkit/internal/feedback"
)

// What the tests outside this package need from inside.

// PurgeChunk is how many requests one Purge removes.
const PurgeChunk = purgeChunk

// SweepChunk and UploadChunk are how many rows and files one transaction of a sweep
// removes.
const (
	SweepChunk  = sweepChunk
	UploadChunk = uploadChunk
)

// MaxWaitingOfFrom is how many bytes of files from one address to one app wait to be
// attached, and MinWaiting what the smallest file counts as.
const (
	MaxWaitingOfFrom = maxWaitingOfFrom
	MinWaiting       = minWaiting
)

// RecountChunk is for how many requests Recount counts in one transaction.
const RecountChunk = recountChunk

// LeaseFor is how long a worker that has stopped keeps others from working.
const LeaseFor = leaseFor

// LeadTo changes how many requests the rarest word of a query may lead to, and returns
// what changes it back.
func LeadTo(n int64) (back func()) {
	before := maxLed
	maxLed = n
	return func() { maxLed = before }
}

// Worker is what one process runs in the background, step by step.
type Worker struct {
	store *Store
	lease lease
	swept time.Time
}

// NewWorker is the worker of a process.
func (s *Store) NewWorker() *Worker {
	return &Worker{store: s, lease: lease{name: workerLease, holder: s.ids.New()}}
}

// Step does one piece of work and reports whether there is more.
func (w *Worker) Step(ctx context.Context) (more bool, err error) {
	return w.store.work(ctx, &w.lease, &w.swept)
}

// Reader is where the store reads.
func (s *Store) Reader() *sql.DB { return s.db.Reader() }

// Analyze is what the worker does for PostgreSQL's statistics.
func (s *Store) Analyze(ctx context.Context) error { return s.db.Analyze(ctx) }

// Begin is what Watch notes before a transaction begins.
const Begin = "BEGIN"

// Watch calls note before each statement that the store sends to the database. It
// must be called before the store is used; the returned function closes what it has
// opened, after the store is closed.
func (s *Store) Watch(note func(query string, args []driver.NamedValue)) (closeRest func() error) {
	var replaced []*sql.DB
	s.db.Wrap(func(db *sql.DB) *sql.DB {
		replaced = append(replaced, db)
		outer := sql.OpenDB(watcher{db, note})
		outer.SetMaxOpenConns(db.Stats().MaxOpenConnections)
		return outer
	})
	return func() (err error) {
		for _, db := range replaced {
			err = errors.Join(err, db.Close())
		}
		return err
	}
}

// watcher hands out the connections of a pool, each of which it keeps for good.
type watcher struct {
	db   *sql.DB
	note func(query string, args []driver.NamedValue)
}

func (w watcher) Driver() driver.Driver { return w.db.Driver() }

func (w watcher) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &watchedConn{watcher: w, conn: conn}
	return c, conn.Raw(func(raw any) error {
		c.rawConn = raw.(rawConn)
		return nil
	})
}

// rawConn is what both drivers' connections can do.
type rawConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.QueryerContext
	driver.ExecerContext
	driver.SessionResetter
}

type watchedConn struct {
	rawConn
	watcher
	conn *sql.Conn
}

func (c *watchedConn) Close() error { return c.conn.Close() }

func (c *watchedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.note(Begin, nil)
	return c.rawConn.BeginTx(ctx, o)
}

func (c *watchedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.note(query, args)
	return c.rawConn.QueryContext(ctx, query, args)
}

func (c *watchedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.note(query, args)
	return c.rawConn.ExecContext(ctx, query, args)
}

// CheckNamedValue lets the driver decide which values it takes.
func (c *watchedConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.rawConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// HoldSearches takes all places for searches of similar requests, and returns what gives
// them back.
func (s *Store) HoldSearches(appID feedback.ID) (release func()) {
	n := int64(0)
	for s.searches.TryAcquire(appID, 1) {
		n++
	}
	return func() { s.searches.Release(appID, n) }
}
