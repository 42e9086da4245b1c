package database

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"gatherkit/internal/fair"
)

// migrations make two small tables.
var migrations = fstest.MapFS{
	"0001_secrets.sql": {Data: []byte("CREATE TABLE secrets (name TEXT PRIMARY KEY, value {bytes} NOT NULL);\n")},
	"0002_votes.sql":   {Data: []byte("CREATE TABLE votes (n {int} PRIMARY KEY);\n")},
}

func openForTest(t *testing.T) *DB {
	t.Helper()
	db, err := Open(context.Background(), Options{Folder: t.TempDir(), Migrations: migrations, Log: slog.New(slog.DiscardHandler)})
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

// TestImpatienceStaysAlone: a caller that leaves while its group runs must not
// interrupt the transaction that it shares with others.
func TestImpatienceStaysAlone(t *testing.T) {
	db := openForTest(t)
	ctx, cancel := context.WithCancel(context.Background())
	err := db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		cancel()
		_, err := tx.ExecContext(ctx, "INSERT INTO secrets (name, value) VALUES ('a', $1)", []byte{1})
		return err
	})
	if err != nil {
		t.Errorf("the group failed with its impatient member: %v", err)
	}
}

// TestNeighborsFailAlone: of a group, those whose work fails are undone, and the
// others are kept.
func TestNeighborsFailAlone(t *testing.T) {
	db := openForTest(t)
	ctx := context.Background()
	mistake := errors.New("a mistake")
	insert := func(name string, fault error) transaction {
		return func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO secrets (name, value) VALUES ($1, $2)", name, []byte{1}); err != nil {
				return err
			}
			return fault
		}
	}
	failed, err := db.writeGroup(ctx, struct{}{}, []write{
		{fn: insert("a", nil)}, {fn: insert("b", mistake)}, {fn: insert("a", nil)}, {fn: insert("c", nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if failed[0] != nil || !errors.Is(failed[1], mistake) || !DataFault(failed[2]) || failed[3] != nil {
		t.Errorf("%v", failed)
	}
	names, err := All(ctx, db.reader, func(r Row) (name string, err error) {
		err = r.Scan(&name)
		return name, err
	}, "SELECT name FROM secrets ORDER BY name")
	if err != nil || len(names) != 2 || names[0] != "a" || names[1] != "c" {
		t.Errorf("%v %v", names, err)
	}
}

// TestAlone: a write that is alone is undone if it fails, and needs no savepoint.
func TestAlone(t *testing.T) {
	db := openForTest(t)
	mistake := errors.New("a mistake")
	for _, fault := range []error{mistake, nil} {
		err := db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO votes (n) VALUES (1)"); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "RELEASE member"); err == nil {
				t.Error("there is a savepoint")
			}
			return fault
		})
		if !errors.Is(err, fault) {
			t.Errorf("%v, want %v", err, fault)
		}
	}
	var n int
	if err := db.reader.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM votes").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d votes, %v", n, err)
	}
}

// TestBrokenDisk: after an fsync that failed nothing is written any more.
func TestBrokenDisk(t *testing.T) {
	db := openForTest(t)
	var told error
	db.fatal = func(err error) { told = err }
	db.broken.Store(true)
	err := db.Write(context.Background(), func(context.Context, *sql.Tx) error {
		t.Error("a transaction has begun on a broken disk")
		return nil
	})
	if !errors.Is(err, errBroken) || !db.Unavailable(err) || told != nil {
		t.Errorf("%v, %v", err, told)
	}
}

// TestTurns: accounts take turns in a transaction. It ends before an account writes once more if others wait, but not for
// work in the background. An account that is alone writes all that it has in one.
func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		turn, group   time.Duration
		waiting, want string // an account's letter for each write, - for nobody's; want has a space between transactions
	}{
		"turn":       {0, time.Hour, "AAAABA-B", "AB- AB"},
		"group":      {time.Hour, 0, "AAAABA-B", "AB- AB"},
		"time left":  {time.Hour, time.Hour, "AAAABA-B", "AB-ABAAA"},
		"alone":      {0, 0, "AAAA", "AAAA"},
		"background": {0, 0, "A-A--", "A-A--"},
	} {
		t.Run(name, func(t *testing.T) {
			db := openForTest(t)
			db.turnTime, db.groupTime = c.turn, c.group
			before := func(context.Context, *sql.Tx) error { return nil }
			if err := db.Write(fair.By(t.Context(), [16]byte{'B'}), before); err != nil { // it does not wait any more
				t.Fatal(err)
			}
			var all sync.WaitGroup
			var wrote []rune
			var last *sql.Tx
			add := func(who rune, before func()) {
				ctx := t.Context()
				if who != '-' {
					ctx = fair.By(ctx, [16]byte{byte(who)})
				}
				all.Go(func() {
					if err := db.Write(ctx, func(_ context.Context, tx *sql.Tx) error {
						before()
						if last != tx {
							wrote, last = append(wrote, ' '), tx
						}
						wrote = append(wrote, who)
						return nil
					}); err != nil {
						t.Error(err)
					}
				})
			}
			begun, end := make(chan struct{}), make(chan struct{})
			add('-', func() { close(begun); <-end })
			<-begun
			for n, who := range c.waiting {
				add(who, func() {})
				for db.writes.Queued() <= n {
					runtime.Gosched()
				}
			}
			close(end)
			all.Wait()
			got := strings.TrimPrefix(string(wrote), " - ")
			if !strings.HasPrefix(got, c.want) || len(strings.ReplaceAll(got, " ", "")) != len(c.waiting) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestParts: parts are written one at a time, accounts take turns, and a short write waits for one part at most.
func TestParts(t *testing.T) {
	db := openForTest(t)
	var order []string // written in transactions, which follow each other
	insert := func(name string, meanwhile func()) func(context.Context, *sql.Tx) error {
		return func(context.Context, *sql.Tx) error {
			order = append(order, name)
			if meanwhile != nil {
				meanwhile()
			}
			return nil
		}
	}
	var all sync.WaitGroup
	add := func(account byte, name string, meanwhile func()) {
		all.Go(func() {
			if err := db.WritePart(t.Context(), [16]byte{account}, insert(name, meanwhile)); err != nil {
				t.Error(err)
			}
		})
	}
	until := func(reached func() bool) {
		for began := time.Now(); !reached(); runtime.Gosched() {
			if time.Since(began) > time.Minute {
				t.Fatal("the writes do not queue up")
			}
		}
	}
	started := make(chan struct{})
	goOn := make(chan struct{})
	add(1, "first of 1", func() { close(started); <-goOn })
	<-started
	for n := range 3 {
		add(1, "more of 1", nil)
		until(func() bool { return db.parts.Waiting() == n+1 })
	}
	add(2, "of 2", nil)
	until(func() bool { return db.parts.Waiting() == 4 })
	all.Go(func() {
		if err := db.Write(t.Context(), insert("short", nil)); err != nil {
			t.Error(err)
		}
	})
	until(func() bool { return db.writes.Queued() == 1 })
	close(goOn)
	all.Wait()
	want := []string{"first of 1", "short", "more of 1", "of 2", "more of 1", "more of 1"}
	if !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}
