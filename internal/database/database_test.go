package database_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/database"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/sweep"
)

// open opens the database at a place for as long as the test runs.
func open(t *testing.T, at storetest.Place) *database.DB {
	t.Helper()
	db, err := openWith(at, fstest.MapFS{})
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

func openWith(at storetest.Place, migrations fs.FS) (*database.DB, error) {
	return openLogging(at, migrations, io.Discard)
}

func openLogging(at storetest.Place, migrations fs.FS, log io.Writer) (*database.DB, error) {
	return database.Open(context.Background(), database.Options{
		URL: at.Database, Folder: at.Folder, Migrations: migrations, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
}

// TestMigrations: what is missing is applied once and in order, and logged unless the database is new. A migration that
// fails leaves nothing behind, and a newer schema is refused.
func TestMigrations(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	first := file("CREATE TABLE a (n {int} NOT NULL){strict};\nINSERT INTO a (n) VALUES (1);\n")
	storetest.EachEmpty(t, func(t *testing.T, at storetest.Place) {
		raw := at.Raw(t)
		var log bytes.Buffer
		logged := func() (lines []string) {
			for line := range strings.Lines(log.String()) {
				_, rest, _ := strings.Cut(line, "level=")
				rest, _, _ = strings.Cut(rest, "ms=")
				lines = append(lines, strings.TrimSpace(rest))
			}
			return lines
		}
		apply := func(migrations fstest.MapFS) error {
			log.Reset()
			db, err := openLogging(at, migrations, &log)
			if err != nil {
				return err
			}
			return db.Close()
		}
		want := func(n int) {
			t.Helper()
			var sum, version int
			err := raw.QueryRowContext(t.Context(), "SELECT SUM(n), (SELECT MAX(version) FROM schema_version) FROM a").Scan(&sum, &version)
			if err != nil || sum != n || version != n {
				t.Fatalf("the sum is %d after %d migrations, want %d: %v", sum, version, n, err)
			}
		}
		if err := apply(fstest.MapFS{"0001.sql": first}); err != nil {
			t.Fatal(err)
		}
		want(1)
		if lines := logged(); len(lines) > 0 {
			t.Errorf("a new database: %q", lines)
		}
		wrong := file("UPDATE a SET n = 7;\nINSERT INTO nowhere (n) VALUES (1);\n")
		if err := apply(fstest.MapFS{"0001.sql": first, "0002.sql": wrong}); err == nil {
			t.Fatal("a wrong migration succeeds")
		}
		want(1)
		all := fstest.MapFS{"0001.sql": first, "0002.sql": file("UPDATE a SET n = n * 2;\n"), "0003.sql": file("UPDATE a SET n = n + 1;\n")}
		for _, lines := range [][]string{{
			`INFO msg="migrating the database" from=1 to=3`, `INFO msg="applied a migration" migration=0002.sql`,
			`INFO msg="applied a migration" migration=0003.sql`, `INFO msg="the database is migrated"`,
		}, nil} {
			if err := apply(all); err != nil {
				t.Fatal(err)
			}
			want(3)
			if diff := cmp.Diff(lines, logged()); diff != "" {
				t.Errorf("the log (-want +got):\n%s", diff)
			}
		}
		err := apply(fstest.MapFS{"0001.sql": first})
		if err == nil || !strings.Contains(err.Error(), " has schema 3 but this program knows 1") {
			t.Fatalf("a newer schema: %v", err)
		}
		want(3)
	})
}

// TestStale: a function that finds a row changed runs again, but not for ever.
func TestStale(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, at storetest.Place) {
		db := open(t, at)
		write := func(lost int) (tries int, err error) {
			err = db.Write(t.Context(), func(context.Context, *sql.Tx) error {
				tries++
				if tries <= lost {
					return database.ErrStale
				}
				return nil
			})
			return tries, err
		}
		if tries, err := write(7); tries != 8 || err != nil {
			t.Errorf("%d tries: %v", tries, err)
		}
		tries, err := write(8)
		if tries != 8 || !errors.Is(err, database.ErrStale) || !db.Unavailable(err) {
			t.Errorf("%d tries: %v, want 8 and an error that asks to come again", tries, err)
		}
		if n := db.Stats().Retried; n != 14 {
			t.Errorf("%d retries are counted, want 14", n)
		}
	})
}

// TestMigrationLetsOthersRead: a migration that waits for a table, because pg_dump reads it, does
// not make others wait as long, and the log names pg_dump.
func TestMigrationLetsOthersRead(t *testing.T) {
	at := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	raw := at.Raw(t)
	migrations := fstest.MapFS{"0001.sql": {Data: []byte("CREATE TABLE a (n {int} NOT NULL, t TEXT);\n")}}
	var log bytes.Buffer
	apply := func() error {
		db, err := openLogging(at, migrations, &log)
		if err != nil {
			return err
		}
		return db.Close()
	}
	if err := apply(); err != nil {
		t.Fatal(err)
	}
	read := func(q database.Queryer, query string) (n int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), storetest.Patience)
		defer cancel()
		if err := q.QueryRowContext(ctx, query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const rows = 20_000 // more bytes than a pipe has room for, so that pg_dump stays in the middle of the table
	if _, err := raw.ExecContext(t.Context(), "INSERT INTO a SELECT n, repeat('x', 200) FROM generate_series(1, $1) n", rows); err != nil {
		t.Fatal(err)
	}
	tool, err := exec.LookPath("pg_dump")
	if err != nil {
		storetest.Missing(t, "postgres", "install it with `apt-get install postgresql`")
	}
	dump := exec.CommandContext(t.Context(), tool, at.Database)
	out, err := dump.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dump.Start(); err != nil {
		t.Fatal(err)
	}
	dumped := bufio.NewReader(out)
	for line := ""; !strings.HasPrefix(line, "COPY public.a "); {
		if line, err = dumped.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	migrations["0002.sql"] = &fstest.MapFile{Data: []byte("ALTER TABLE a ADD COLUMN m {int};\n")}
	migrated := make(chan error, 1)
	go func() { migrated <- apply() }()
	for range 2 { // once behind the migration, and once behind its next try
		for read(raw, "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER%'") == 0 {
			<-time.After(5 * time.Millisecond)
		}
		read(raw, "SELECT COUNT(*) FROM a")
	}
	rest, err := io.ReadAll(dumped)
	if n := strings.Count(string(rest), strings.Repeat("x", 200)); err != nil || n != rows {
		t.Fatalf("%d rows were dumped, %v", n, err)
	}
	if err := dump.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`level=WARN .*waits for .* pid=\d+ application=pg_dump state=.* query="COPY public.a `)
	if !named.Match(log.Bytes()) {
		t.Errorf("the log does not name pg_dump:\n%s", &log)
	}
	read(raw, "SELECT COUNT(m) FROM a")
}

// TestEncoding: a database that is not in UTF-8 is refused.
func TestEncoding(t *testing.T) {
	at := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	raw, name := at.Raw(t), "test_"+strings.ToLower(rand.Text())
	run := func(statement string) {
		t.Helper()
		if _, err := raw.ExecContext(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE DATABASE " + name + " ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
	t.Cleanup(func() { run("DROP DATABASE " + name + " WITH (FORCE)") })
	beside, err := url.Parse(at.Database)
	if err != nil {
		t.Fatal(err)
	}
	beside.Path = "/" + name
	_, err = openWith(storetest.Place{Name: "postgres", Database: beside.String()}, fstest.MapFS{})
	if err == nil || !strings.Contains(err.Error(), "SQL_ASCII") {
		t.Errorf("%v, want a refusal of SQL_ASCII", err)
	}
}

// TestPanicsEndTransactions: a transaction that panics is undone, and keeps neither its connection nor its locks.
func TestPanicsEndTransactions(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, at storetest.Place) {
		db, err := openWith(at, fstest.MapFS{"0001_a.sql": {Data: []byte("CREATE TABLE a (n {int} PRIMARY KEY);\n")}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		insert := func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO a (n) VALUES (1)")
			return err
		}
		for range 50 {
			err := sweep.Recovered(func() error {
				return db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
					if err := insert(ctx, tx); err != nil {
						return err
					}
					panic("a test")
				})
			})
			if err == nil || !strings.Contains(err.Error(), "a test") {
				t.Fatalf("a panic returns %v", err)
			}
		}
		if err := db.Write(t.Context(), insert); err != nil {
			t.Error(err)
		}
	})
}

// TestWarm: connections to PostgreSQL are open before the first calls need them.
func TestWarm(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, at storetest.Place) {
		db := open(t, at)
		if err := db.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
		if stats := db.Stats(); at.Database != "" && stats.Conns < db.ReadLanes() || stats.InUse != 0 {
			t.Errorf("%+v, want %d connections that are free", stats, db.ReadLanes())
		}
	})
}
