package storetest

import (
	"context"
	"errors"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Template is a database of each kind that takes long to fill. It is filled once in a test
// process, and each test gets a copy. The zero value is one that is not filled yet.
type Template struct {
	// Name is for a template that the tests of several processes share on PostgreSQL, if they share a
	// server. It says what the template contains.
	Name string

	sqlite   sync.Once
	postgres sync.Once
	file     *os.File // has no name any more, so that it goes with the process
	database string
}

// Copy makes an empty place a copy of the template. The first call for each kind of
// database fills the template: fill gets an empty place and a test at whose end nobody has
// it open any more.
func (m *Template) Copy(t *testing.T, to Place, fill func(t *testing.T, at Place)) {
	t.Helper()
	if to.Name == "sqlite" {
		m.sqlite.Do(func() { t.Run("template", func(t *testing.T) { m.fillFile(t, fill) }) })
		if m.file == nil {
			t.Fatal("the template could not be filled")
		}
		if err := writeAll(to.file(), io.NewSectionReader(m.file, 0, math.MaxInt64)); err != nil {
			t.Fatal(err)
		}
		return
	}
	template, server := m.onServer(t, fill), throwAway(t)
	address, err := url.Parse(to.Database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(address.Path, "/")
	server.exec(t, "DROP DATABASE "+name)
	// Since version 15, PostgreSQL writes a copy to its log, too, unless it is told not to.
	create := "CREATE DATABASE " + name + " TEMPLATE " + template
	if server.version(t) >= 150000 {
		create += " STRATEGY FILE_COPY"
	}
	server.execWhenFree(t, create)
}

// onServer returns the name of the template on PostgreSQL.
func (m *Template) onServer(t *testing.T, fill func(t *testing.T, at Place)) string {
	t.Helper()
	throwAway(t) // so that this test is skipped, and not only the one that fills the template
	m.postgres.Do(func() { t.Run("template", func(t *testing.T) { m.fillDatabase(t, fill) }) })
	if m.database == "" {
		t.Fatal("the template could not be filled")
	}
	return m.database
}

func (m *Template) fillFile(t *testing.T, fill func(t *testing.T, at Place)) {
	at := SQLite(t)
	t.Cleanup(func() { // after the place was closed, before its folder goes
		if t.Failed() {
			return
		}
		from, err := os.Open(at.file())
		if err != nil {
			t.Fatal(err)
		}
		copied, err := os.CreateTemp("", "gatherkit-template-")
		if err == nil {
			_, err = io.Copy(copied, from)
			err = errors.Join(err, os.Remove(copied.Name()))
		}
		if err := errors.Join(err, from.Close()); err != nil {
			t.Fatal(err)
		}
		m.file = copied
	})
	fill(t, at)
}

func (m *Template) fillDatabase(t *testing.T, fill func(t *testing.T, at Place)) {
	server := throwAway(t)
	if server.served && m.Name != "" {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, server.url("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { // which releases the lock
			if err := conn.Close(ctx); err != nil {
				t.Error(err)
			}
		})
		const lock = `SELECT pg_advisory_lock(hashtext($1))`
		const find = `SELECT datname FROM pg_database WHERE shobj_description(oid, 'pg_database') = $1`
		if _, err := conn.Exec(ctx, lock, m.Name); err != nil {
			t.Fatal(err)
		}
		switch err := conn.QueryRow(ctx, find, m.Name).Scan(&m.database); {
		case err == nil:
			return
		case !errors.Is(err, pgx.ErrNoRows):
			t.Fatal(err)
		}
	}
	_, name := newDatabase(t, "")
	t.Cleanup(func() { // after the place was closed
		if t.Failed() {
			return
		}
		m.database = name
		if m.Name != "" {
			server.exec(t, "COMMENT ON DATABASE "+name+" IS '"+m.Name+"'")
		}
	})
	fill(t, Place{Name: "postgres", Database: server.url(name)})
}

// writeAll writes a new file.
func writeAll(path string, from io.Reader) error {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// file is where SQLite has the database.
func (p Place) file() string { return filepath.Join(p.Folder, "gatherkit.db") }

// execWhenFree is exec for what PostgreSQL refuses as long as connections to a database,
// which have just been closed, are still ending.
func (c *cluster) execWhenFree(t testing.TB, statement string) {
	t.Helper()
	const inUse = "55006"
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(Patience); ; <-tick.C {
		err := c.try(context.Background(), statement)
		var refusal *pgconn.PgError
		if err == nil {
			return
		}
		if !errors.As(err, &refusal) || refusal.Code != inUse || time.Now().After(end) {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
