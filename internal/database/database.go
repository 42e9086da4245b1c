// Package database opens the database, SQLite or PostgreSQL, migrates it, runs
// transactions on it, makes backups, and says what its errors mean. It is the only package
// that knows which of the two it is, and it knows no table: the packages above it write
// their SQL once for both.
package database

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"gatherkit/internal/batch"
	"gatherkit/internal/fair"
)

// Options say where the database is and what it depends on.
type Options struct {
	// URL is a postgres:// URL; empty means SQLite in Folder.
	URL    string
	Folder string
	// Existing says that the database must have tables already. Otherwise, Open makes them.
	Existing bool
	// Migrations are SQL files, which are applied in the order of their names.
	Migrations fs.FS
	// Migrating is called before Open migrates a database of an earlier version, and before it waits for another process
	// that migrates. Both may take long. If it returns an error, Open does, too. May be nil.
	Migrating func() error
	Log       *slog.Logger
	// Fatal is called once when the disk has failed in a way after which nothing
	// may be acknowledged any more: the process must end. Every write fails from then
	// on. May be nil.
	Fatal func(error)
	// ObserveWrite is called with the duration of each transaction of Write, from its beginning to
	// its end. May be nil.
	ObserveWrite func(time.Duration)
}

// DB is a database. Its methods are safe for concurrent use and may be called from
// several processes on the same database.
type DB struct {
	dialect dialect
	url     string // of PostgreSQL
	folder  string // of the SQLite file
	place   string // says which database it is
	log     *slog.Logger
	fatal   func(error)
	observe func(time.Duration)
	slow    slowLog
	// committed are called after each commit.
	committed []func()

	// On PostgreSQL writer and reader are the same pool.
	writer, reader *sql.DB
	// together is the connection of WriteTogether to PostgreSQL; nil on SQLite.
	together *sql.DB
	wrapped  []*sql.DB
	open     sync.RWMutex // of SQLite's connections, as in preparing
	link     *link        // to PostgreSQL, else nil
	// distributed says that Citus had distributed tables when the database was opened.
	distributed bool
	// writes joins transactions on SQLite, which has one writer; nil on PostgreSQL.
	writes *batch.Batcher[struct{}, write, error]
	// writers are the accounts that write on SQLite.
	writers             writers
	turnTime, groupTime time.Duration // see write.go
	// parts has one place, for WritePart, on SQLite.
	parts *fair.Pool[[16]byte]

	broken, closed atomic.Bool
	retried        atomic.Int64
}

// ErrNoDatabase means that there is no database yet, or that it has no tables.
var ErrNoDatabase = errors.New("there is no database of Gatherkit")

// Open opens the database, creating the SQLite file when there is none, and applies
// the migrations that are missing. It returns ErrNoDatabase if the database should exist and does not.
func Open(ctx context.Context, o Options) (*DB, error) {
	db := &DB{url: o.URL, folder: o.Folder, place: "in " + o.Folder, log: o.Log, fatal: o.Fatal, observe: o.ObserveWrite}
	if db.observe == nil {
		db.observe = func(time.Duration) {}
	}
	var err error
	if o.URL != "" {
		db.dialect = postgresDialect
		if err := db.openPostgres(); err != nil {
			return nil, err
		}
		db.reader = db.writer
		for _, check := range []func(context.Context, *sql.DB) error{checkSession, checkEncoding} {
			if err := check(ctx, db.writer); err != nil {
				return nil, errors.Join(db.Explain(err), db.Close())
			}
		}
	} else {
		db.dialect = sqliteDialect
		if err := makeDatabase(o.Folder, o.Existing); err != nil {
			return nil, err
		}
		if db.writer, err = db.openSQLite(false); err != nil {
			return nil, err
		}
		if db.reader, err = db.openSQLite(true); err != nil {
			return nil, errors.Join(err, db.writer.Close())
		}
		db.parts, db.writers.of = fair.New[[16]byte](1, 1), map[[16]byte]int{}
		db.turnTime, db.groupTime = turnTime, groupTime
		db.writes = batch.New(db.writeGroup, batch.Options{MaxGroup: maxGroup, MaxQueue: maxQueue, Parallel: 1, Timeout: groupTimeout})
	}
	if err := db.migrate(ctx, o); err != nil {
		return nil, errors.Join(db.Explain(err), db.Close())
	}
	if db.writes != nil {
		// The pages that a savepoint or a statement may have to restore stay in memory. In a temporary file, they were
		// half of all bytes written. Migrations still sort whole tables in files.
		if _, err := db.writer.ExecContext(ctx, "PRAGMA temp_store = MEMORY"); err != nil {
			return nil, errors.Join(db.Explain(err), db.Close())
		}
	}
	if db.link != nil {
		names, _, err := db.distributedTables(ctx)
		if err != nil {
			return nil, errors.Join(db.Explain(err), db.Close())
		}
		db.distributed = len(names) > 0
		db.link.begin() // not before: a failed start reports PostgreSQL's own error
	}
	return db, nil
}

// Close waits for accepted writes and closes the database. It returns when all connections to SQLite
// are closed, also those that the pool was just opening, so that nothing changes in the folder afterwards.
func (db *DB) Close() error {
	if db.writes != nil {
		db.writes.Close()
	}
	again := db.closed.Swap(true)
	if db.link != nil {
		db.link.close()
	}
	err := db.reader.Close()
	if db.writer != db.reader {
		err = errors.Join(err, db.writer.Close())
	}
	if db.together != nil {
		err = errors.Join(err, db.together.Close())
	}
	for _, pool := range db.wrapped {
		err = errors.Join(err, pool.Close())
	}
	if !again {
		db.open.Lock() // for good
	}
	return err
}

// Reader returns the connections for statements that only read.
func (db *DB) Reader() *sql.DB { return db.reader }

// OnCommit makes Write call fn after each commit. fn must return at once. OnCommit must be called before
// the database is used.
func (db *DB) OnCommit(fn func()) { db.committed = append(db.committed, fn) }

// Wrap replaces each pool of connections by what wrap makes of it. Tests watch
// statements with it. It must be called before the database is used.
func (db *DB) Wrap(wrap func(*sql.DB) *sql.DB) {
	if db.together != nil {
		db.wrapped = append(db.wrapped, db.together)
		db.together = wrap(db.together)
	}
	db.wrapped = append(db.wrapped, db.writer)
	same := db.reader == db.writer
	db.writer = wrap(db.writer)
	if same {
		db.reader = db.writer
	} else {
		db.wrapped = append(db.wrapped, db.reader)
		db.reader = wrap(db.reader)
	}
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	if db.broken.Load() {
		return errBroken
	}
	var one int
	return db.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// Warm opens connections to PostgreSQL, as many as the calls of one kind use, so that the first calls after a restart
// do not wait for them. It does nothing on SQLite.
func (db *DB) Warm(ctx context.Context) error {
	if db.link == nil {
		return nil
	}
	var conns []*sql.Conn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close() // returns it to the pool
		}
	}()
	for range db.ReadLanes() {
		conn, err := db.reader.Conn(ctx)
		if err != nil {
			return err
		}
		conns = append(conns, conn)
	}
	return nil
}

// Stats are figures for the operator's dashboards.
type Stats struct {
	Queued       int   // writes that wait for their transaction
	Conns, InUse int   // connections to the database, and how many are busy
	Waited       int64 // how often a call has waited for a connection
	Retried      int64 // how often a transaction was run again after it had lost a race
}

// Stats returns the figures of this moment.
func (db *DB) Stats() Stats {
	pool := db.reader.Stats()
	stats := Stats{Conns: pool.OpenConnections, InUse: pool.InUse, Waited: pool.WaitCount, Retried: db.retried.Load()}
	if db.writes != nil {
		stats.Queued = db.writes.Queued()
	}
	return stats
}

// Size returns how many bytes the database takes, and how many of these are SQLite's write-ahead
// log; on PostgreSQL, log is 0.
func (db *DB) Size(ctx context.Context) (all, log int64, err error) {
	if db.writes == nil {
		err = db.reader.QueryRowContext(ctx, "SELECT pg_database_size(current_database())").Scan(&all)
		return all, 0, err
	}
	path := filepath.Join(db.folder, databaseFile)
	file, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	if info, err := os.Stat(path + "-wal"); err == nil {
		log = info.Size()
	}
	return file.Size() + log, log, nil
}

// Analyze has PostgreSQL gather statistics of tables that have grown. PostgreSQL
// itself does so once a minute; until then it cannot tell a good index from a bad one and
// may read a whole table to find one row.
func (db *DB) Analyze(ctx context.Context) error {
	if db.dialect.grown == "" {
		return nil
	}
	tables, err := All(ctx, db.reader, func(r Row) (name string, err error) {
		err = r.Scan(&name)
		return name, err
	}, db.dialect.grown)
	for _, table := range tables {
		if err == nil {
			_, err = db.writer.ExecContext(ctx, db.dialect.analyze+table)
		}
	}
	return err
}
