// Package store persists accounts, apps, requests and what belongs to them, the log of
// changes, and the counters. A method that writes does so in one transaction unless its
// comment says otherwise, and callers never see a transaction. Statements use $1…$n and have
// the condition account_id = $1, except for lookups by a hash or an e-mail and for tasks
// that cover all accounts.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"gatherkit/internal/aside"
	"gatherkit/internal/batch"
	"gatherkit/internal/board"
	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
	"gatherkit/internal/entries"
	"gatherkit/internal/events"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/lease"
	"gatherkit/internal/links"
	"gatherkit/internal/mail"
	"gatherkit/internal/mentions"
	"gatherkit/internal/quota"
	"gatherkit/internal/readers"
	"gatherkit/internal/sessions"
	"gatherkit/internal/team"
	"gatherkit/internal/templates"
	"gatherkit/internal/tokens"
	"gatherkit/internal/uploads"
	"gatherkit/internal/usage"
	"gatherkit/internal/views"
	"gatherkit/internal/visitors"
	"gatherkit/internal/webhook"
)

// Options are the location and the dependencies of a Store.
type Options struct {
	// Database is a postgres:// URL. If it is empty, the store uses SQLite in Folder.
	Database string
	Folder   string
	// Existing says that the database must have tables already. Otherwise, Open makes them.
	Existing bool
	// Copying says that a copy into the database may be incomplete. Otherwise, Open returns ErrIncomplete then.
	Copying bool
	// Migrating is called before something that may take long. See database.Options.
	Migrating func() error

	Now  func() time.Time
	Rand io.Reader
	Log  *slog.Logger

	// Fatal is called once if the disk fails in a way that makes later commits
	// unreliable. The process must exit. All writes fail from then on.
	Fatal func(error)
	// ObserveGroup is called with the number of submissions in each group. It may be nil.
	ObserveGroup func(size int)
	// ObserveWrite is called with the duration of each transaction that writes. It may be nil.
	ObserveWrite func(time.Duration)
	// RemoveFile deletes the content of an upload, if there is any. It is nil if the
	// service has no file storage.
	RemoveFile func(context.Context, feedback.ID) error
	// FilesSentPast reports whether clients upload files directly to the file storage. The
	// service then learns that a file has arrived only when it is attached to a request.
	FilesSentPast bool
	// Retention is how long what people outside have given is kept.
	Retention Retention
	// Quotas are those of accounts for which the operator has set no others. nil stands for quota.Defaults.
	Quotas quota.Limits
}

// Store gives access to the data of the service. Its methods are safe for concurrent use, also by
// several processes on the same PostgreSQL database.
type Store struct {
	Index *index.Index // lists, searches and counts requests
	Views *views.Views // saved views of the list of requests

	Templates *templates.Templates // of replies
	Board     *board.Boards        // what visitors of portals see
	Entries   *entries.Entries     // of changelogs
	Links     *links.Links         // of requests
	Mail      *mail.Mail
	Mentions  *mentions.Mentions
	Quotas    *quota.Quotas    // of each account
	Readers   *readers.Readers // people outside, who hear back
	Sessions  *sessions.Sessions
	SetAside  *aside.List // background work that failed
	Team      *team.Team
	Tokens    *tokens.Tokens // of programs
	Uploads   *uploads.Uploads
	Usage     *usage.Usage       // of each account
	Visitors  *visitors.Visitors // of portals
	Events    *events.Events     // the feed of changes
	Waiters   *events.Waiters
	Webhooks  *webhook.Webhooks

	db   *database.DB
	now  func() time.Time
	rand io.Reader
	ids  *feedback.IDs
	log  *slog.Logger

	retention     Retention
	countedAtOnce int64
	tracesAtOnce  int // see readTraces; no limit outside of tests

	submits   *batch.Batcher[struct{}, Submission, submitted]    // to any accounts
	ofAccount *batch.Batcher[feedback.ID, Submission, submitted] // submissions to one account
	casts     *batch.Batcher[feedback.ID, vote, vote]
	keys      *batch.Batcher[string, string, *feedback.App] // lookups by API key
	delayed   delays

	arrived    atomic.Int64 // number of calls of Submit in this process
	submitting atomic.Int64 // number of those that are not answered

	outcomes lease.Outcomes // of the background work
	accounts accountList
}

// groupTimeout is the timeout of a group of submissions, votes or key lookups.
var groupTimeout = deadline.Of(20 * time.Second)

const (
	// maxQueue is the maximum number of waiting submissions, of waiting votes and of waiting
	// key lookups, half of them of one account. Calls beyond it fail with batch.ErrFull.
	maxQueue = 2048
	// maxKeyLookups is the maximum number of concurrent key lookups, if accounts are on several machines. It leaves
	// connections for other calls.
	maxKeyLookups = 10
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Open opens the database, creates the SQLite file if it does not exist, and migrates the
// schema to the current version.
func Open(ctx context.Context, o Options) (*Store, error) {
	migrations, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, err
	}
	db, err := database.Open(ctx, database.Options{
		URL: o.Database, Folder: o.Folder, Existing: o.Existing, Migrations: migrations, Migrating: o.Migrating,
		Log: o.Log, Fatal: o.Fatal, ObserveWrite: o.ObserveWrite,
	})
	if err != nil {
		return nil, err
	}
	ids, list := feedback.NewIDs(o.Now, o.Rand), aside.New(db, o.Log, o.Now)
	if o.Quotas == nil {
		o.Quotas = quota.Defaults
	}
	quotas := quota.New(db, o.Now, o.Quotas)
	s := &Store{
		Quotas: quotas, Index: index.New(db, o.Now, list), Views: views.New(db, o.Now, ids), Mentions: mentions.New(db, o.Now),
		Templates: templates.New(db, o.Now, ids),
		Readers:   readers.New(db, o.Now, o.Rand, readApp), Sessions: sessions.New(db, o.Now, o.Rand, ids),
		Tokens: tokens.New(db, o.Now, o.Rand, ids), Events: events.New(db), Waiters: events.NewWaiters(db, o.Log),
		Uploads:  uploads.New(db, o.Now, ids, o.RemoveFile, o.FilesSentPast, quotas),
		Usage:    usage.New(db, o.Log, o.Now),
		Webhooks: webhook.New(db, o.Log, o.Now, o.Rand, ids, quotas),
		db:       db, now: o.Now, rand: o.Rand, ids: ids, log: o.Log, SetAside: list, retention: o.Retention, countedAtOnce: countedAtOnce,
		tracesAtOnce: math.MaxInt,
	}
	if !o.Copying {
		if err := s.checkCopied(ctx); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	s.Visitors = visitors.New(db, o.Now, o.Rand)
	s.Board = board.New(db, s.Visitors, readApp)
	s.Team = team.New(db, o.Now, o.Rand, ids, s.Sessions, quotas)
	s.Links = links.New(db, ids, s.changePart)
	s.Entries = entries.New(db, o.Now, ids, s.Readers, s.lockApp, s.changeInPlace)
	s.Mail = mail.New(db, o.Log, o.Now, ids, s.Readers, readApp, list, s.Usage, quotas)
	limits := batch.Options{MaxGroup: maxGroup, MaxQueue: maxQueue, Timeout: groupTimeout, Alone: database.DataFault}
	limits.Parallel = maxQueue // groups of different accounts wait for each other only in Write
	s.casts = batch.New(s.castGroup, limits)
	limits.Parallel, limits.Observe = db.WriteLanes(), o.ObserveGroup
	s.ofAccount = batch.New(s.submitGroup, limits)
	limits.Parallel, limits.Alone = 1, nil
	s.submits = batch.New(s.submitTogether, limits)
	s.keys = batch.New(s.appsByKey, batch.Options{
		MaxGroup: maxGroup, MaxQueue: maxQueue, Parallel: maxKeyLookups, Timeout: groupTimeout,
		Alone: func(err error) bool { return !db.Unavailable(err) }, // such as settings that cannot be read
	})
	return s, nil
}

// ReadLanes is how many calls of users, and of visitors, may read the database at once.
func (s *Store) ReadLanes() int { return s.db.ReadLanes() }

// Close waits for the accepted calls and closes the database.
func (s *Store) Close() error {
	s.keys.Close()
	s.submits.Close()
	s.ofAccount.Close()
	s.casts.Close()
	return s.db.Close()
}

// Warm opens connections to the database ahead of the first calls.
func (s *Store) Warm(ctx context.Context) error { return s.db.Warm(ctx) }

// SetLogin makes new connections to PostgreSQL log in as the user in url. It returns database.ErrOtherDatabase if url
// differs in anything else.
func (s *Store) SetLogin(url string) error { return s.db.SetLogin(url) }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Stats returns the current metrics of the database. Queued includes the
// submissions and votes that wait.
func (s *Store) Stats() database.Stats {
	stats := s.db.Stats()
	stats.Queued += s.submits.Queued() + s.ofAccount.Queued() + s.casts.Queued()
	return stats
}

// NewID returns an id that nothing has.
func (s *Store) NewID() feedback.ID { return s.ids.New() }

// Submissions returns how many submissions this process has received.
func (s *Store) Submissions() int64 { return s.arrived.Load() }

// Size returns how many bytes the database takes. See database.DB.Size.
func (s *Store) Size(ctx context.Context) (all, log int64, err error) { return s.db.Size(ctx) }

// Schema returns the number of the schema that this program knows.
func Schema() int {
	files, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is invalid
	}
	return len(files)
}

// Unavailable reports whether err is temporary, so that a retry may succeed. See
// database.DB.Unavailable.
func (s *Store) Unavailable(err error) bool { return s.db.Unavailable(err) }

// Backup writes a consistent copy of the database to a folder while the service runs. See
// database.DB.Backup.
func (s *Store) Backup(ctx context.Context, folder string) error { return s.db.Backup(ctx, folder) }

// Explain adds to an error what an operator can do about it. See database.DB.Explain.
func (s *Store) Explain(err error) error { return s.db.Explain(err) }

// Check reads the whole database and returns an error if it is damaged. On PostgreSQL it does
// nothing.
func (s *Store) Check(ctx context.Context) error { return s.db.Check(ctx) }

// Wrap replaces each connection pool with the result of wrap. See database.DB.Wrap. Tests use
// it to watch statements. It must be called before the store is used.
func (s *Store) Wrap(wrap func(*sql.DB) *sql.DB) { s.db.Wrap(wrap) }
