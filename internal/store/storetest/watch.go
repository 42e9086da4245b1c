package storetest

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// Begin is what a watched store notes before a transaction begins.
const Begin = "BEGIN"

// Watched opens another store at the same place. It calls note before it sends a statement
// to the database.
func (r *Rig) Watched(note func(query string, args []driver.NamedValue)) *store.Store {
	r.T.Helper()
	s, _ := r.watch(note)
	return s
}

// watch is Watched. It also returns the pool of connections that the store reads with,
// which is not watched.
func (r *Rig) watch(note func(query string, args []driver.NamedValue)) (s *store.Store, reader *sql.DB) {
	r.T.Helper()
	s = r.At.Open(r.T, r.Clock.Now, func(o *store.Options) {
		o.RemoveFile = func(context.Context, feedback.ID) error { return nil }
	})
	reader = Watch(s, func(_ *sql.Conn, query string, args []driver.NamedValue) { note(query, args) })
	return s, reader
}

// Watch lets a store call note before it sends a statement to the database. Until note returns, the connection of the
// statement is its own. Watch returns the pool of connections that the store reads with, which is not watched.
func Watch(s *store.Store, note func(conn *sql.Conn, query string, args []driver.NamedValue)) (reader *sql.DB) {
	s.Wrap(func(pool *sql.DB) *sql.DB {
		reader = pool // the last one
		outer := sql.OpenDB(watcher{pool, note})
		outer.SetMaxOpenConns(pool.Stats().MaxOpenConnections)
		return outer
	})
	return reader
}

// watcher hands out the connections of a pool. Each stays with its new owner until it is
// closed.
type watcher struct {
	pool *sql.DB
	note func(conn *sql.Conn, query string, args []driver.NamedValue)
}

func (w watcher) Driver() driver.Driver { return w.pool.Driver() }

func (w watcher) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.pool.Conn(ctx)
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
	c.note(c.conn, Begin, nil)
	return c.rawConn.BeginTx(ctx, o)
}

func (c *watchedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.note(c.conn, query, args)
	return c.rawConn.QueryContext(ctx, query, args)
}

func (c *watchedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.note(c.conn, query, args)
	return c.rawConn.ExecContext(ctx, query, args)
}

// CheckNamedValue lets the driver decide which values it takes.
func (c *watchedConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.rawConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}
