// Package storetest gives tests empty stores: the real thing, on a fresh SQLite
// file and on a fresh database of a throw-away PostgreSQL.
package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"io"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/store"
)

// Patience is how long a test waits for what has to happen. It is far longer than a busy
// machine takes, so that a test fails when something does not happen, not when it is late.
const Patience = 10 * time.Minute

// SQLite has one folder for temporary files in a process, which each store makes its own. A sort of one test would
// make files in the folder of another one, which is being removed. A test that is about the folder sets the variable itself.
func init() {
	if _, set := os.LookupEnv("SQLITE_TMPDIR"); !set {
		if err := os.Setenv("SQLITE_TMPDIR", os.TempDir()); err != nil {
			panic(err)
		}
	}
}

// Place is a database of a store.
type Place struct {
	Name     string // sqlite or postgres
	Database string // as store.Options.Database
	Folder   string // as store.Options.Folder
}

// migrated has the tables of a store, and no rows. A copy is made faster than the tables.
var migrated = Template{Name: "an empty store"}

func migrate(t *testing.T, at Place) { at.Open(t, nil) }

// Each runs a test on an empty store of each kind, on both at once.
func Each(t *testing.T, test func(t *testing.T, at Place)) {
	var both sync.WaitGroup
	both.Go(func() { onSQLite(t, test) })
	both.Go(func() { onPostgres(t, test) })
	both.Wait()
}

// EachInTurn is Each for tests that measure, or that change what all stores of a process
// share: it runs them on SQLite first and on PostgreSQL afterwards.
func EachInTurn(t *testing.T, test func(t *testing.T, at Place)) {
	onSQLite(t, test)
	onPostgres(t, test)
}

// EachEmpty is Each for tests that migrate the database themselves: it has no tables.
func EachEmpty(t *testing.T, test func(t *testing.T, at Place)) {
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, Place{Name: "postgres", Database: Postgres(t)}) })
}

func onSQLite(t *testing.T, test func(t *testing.T, at Place)) {
	t.Run("sqlite", func(t *testing.T) {
		at := SQLite(t)
		migrated.Copy(t, at, migrate)
		test(t, at)
	})
}

func onPostgres(t *testing.T, test func(t *testing.T, at Place)) {
	t.Run("postgres", func(t *testing.T) {
		test(t, Place{Name: "postgres", Database: newPostgres(t, migrated.onServer(t, migrate))})
	})
}

// SQLite is a place for a new file.
func SQLite(t testing.TB) Place { return Place{Name: "sqlite", Folder: t.TempDir()} }

// Another returns a place for a new database of the same kind.
func (p Place) Another(t testing.TB) Place {
	t.Helper()
	if p.Database == "" {
		return SQLite(t)
	}
	return Place{Name: p.Name, Database: Postgres(t)}
}

// Open opens a store at the place, for as long as the test runs. Opened twice, it
// is what two processes are. A nil clock is the real one.
func (p Place) Open(t testing.TB, clock func() time.Time, change ...func(*store.Options)) *store.Store {
	t.Helper()
	if clock == nil {
		clock = time.Now
	}
	o := store.Options{
		Database: p.Database, Folder: p.Folder, Now: clock, Rand: rand.Reader,
		Log:   slog.New(slog.NewTextHandler(io.Discard, nil)),
		Fatal: func(err error) { t.Errorf("the store is broken: %v", err) },
	}
	for _, fn := range change {
		fn(&o)
	}
	s, err := store.Open(context.Background(), o)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return s
}

// Raw opens the database as an operator's tool would, past the store and for as long as
// the test runs.
func (p Place) Raw(t testing.TB) *sql.DB {
	t.Helper()
	driver, source := "pgx", p.Database
	if p.Database == "" {
		file := url.URL{Scheme: "file", Path: p.file(), RawQuery: "_pragma=busy_timeout(600000)"} // the folder of a test can have a #
		driver, source = "sqlite", file.String()
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Clock is a clock that stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock at the beginning of 2026.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move moves the clock.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
