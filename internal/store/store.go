// Package store keeps the nouns, the log of changes and the counters. A method is one
// thing that must happen as a whole: callers never see a transaction. Statements use $1…$n, and every one on a table of
// account data says account_id = $1.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"gatherkit/internal/batch"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
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
	Index *index.Index // finds requests

	db   *database.DB
	now  func() time.Time
	rand io.Reader
	ids  *feedback.IDs
	log  *slog.Logger

	submits *batch.Batcher[feedback.ID, Submission, submitted]
	casts   *batch.Batcher[feedback.ID, cast, cast]
	keys    *batch.Batcher[string, struct{}, feedback.App] // look-ups, by the API key

	arrived atomic.Int64 // submissions that this process has been given

	removeFile func(context.Context, feedback.ID) error
	unsentLife time.Duration // of files that have not come, as far as the store knows
}

const (
	// groupTimeout bounds one group of submissions, votes or look-ups.
	groupTimeout = 20 * time.Second
	// maxQueue is how many submissions, votes and look-ups may wait, of each kind; beyond it
	// callers are asked to come again.
	maxQueue = 1024
	// maxKeyLookups is how many API keys are looked up at once; it leaves connections
	// for others.
	maxKeyLookups = 10
)

//go:embed migrations/*.sql
var files embed.FS

// Open opens the store, creating the SQLite file when there is none, and brings
// its schema up to date.
func Open(ctx context.Context, o Options) (*Store, error) {
	migrations, err := fs.Sub(files, "migrations")
	if err != nil {
		return nil, err
	}
	db, err := database.Open(ctx, database.Options{URL: o.Database, Folder: o.Folder, Migrations: migrations, Log: o.Log, Fatal: o.Fatal})
	if err != nil {
		return nil, err
	}
	s := &Store{
		Index: index.New(db, o.Now), db: db, now: o.Now, rand: o.Rand, ids: feedback.NewIDs(o.Now, o.Rand), log: o.Log,
		removeFile: o.RemoveFile, unsentLife: feedback.SendLife,
	}
	if o.FilesSentPast {
		s.unsentLife = feedback.UploadLife
	}
	limits := batch.Options{MaxGroup: maxGroup, MaxQueue: maxQueue, Timeout: groupTimeout, Alone: database.DataFault}
	limits.Parallel = maxQueue // groups of different accounts wait for each other only in Write
	s.casts = batch.New(s.castGroup, limits)
	limits.Parallel, limits.Observe = db.WriteLanes(), o.ObserveGroup
	s.submits = batch.New(s.submitGroup, limits)
	s.keys = batch.New(s.appByKey, batch.Options{MaxGroup: maxQueue, MaxQueue: maxQueue, Parallel: maxKeyLookups, Timeout: groupTimeout})
	return s, nil
}

// Close waits for the writes that were accepted and closes the database.
func (s *Store) Close() error {
	s.keys.Close()
	s.submits.Close()
	s.casts.Close()
	return s.db.Close()
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Stats returns the figures of this moment.
func (s *Store) Stats() database.Stats {
	stats := s.db.Stats()
	stats.Queued += s.submits.Queued() + s.casts.Queued()
	return stats
}

// Unavailable reports whether err says that another try may succeed: see database.DB.
func (s *Store) Unavailable(err error) bool { return s.db.Unavailable(err) }

// Backup writes a consistent copy of the SQLite database to a new file while the
// service goes on. It fails with database.ErrNoBackup on PostgreSQL.
func (s *Store) Backup(ctx context.Context, file string) error { return s.db.Backup(ctx, file) }

// Wrap replaces each pool of connections by what wrap makes of it: see database.DB. It is
// for tests that watch the statements; call it before the store is used.
func (s *Store) Wrap(wrap func(*sql.DB) *sql.DB) { s.db.Wrap(wrap) }

// orNotFound turns "no row" into the refusal that callers get to see.
func orNotFound(err error, refusal *feedback.Error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return refusal
	}
	return err
}
