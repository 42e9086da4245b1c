package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers that the store uses
	_ "modernc.org/sqlite"
)

// database is a database for the store, and how to connect to it directly.
type database struct {
	flags  []string // for gatherkit
	driver string
	dsn    string
	file   string // of SQLite
}

// kind is a kind of database. Each measurement gets a fresh one.
type kind struct {
	name  string
	fresh func(ctx context.Context, o options, name string) (d database, remove func() error, err error)
}

var kinds = []kind{
	{"SQLite", func(_ context.Context, o options, name string) (database, func() error, error) {
		folder := filepath.Join(o.folder, name)
		return sqliteIn(folder), func() error { return os.RemoveAll(folder) }, nil
	}},
	{"PostgreSQL", func(ctx context.Context, o options, name string) (database, func() error, error) {
		return postgresBeside(ctx, o.postgres, name)
	}},
}

func sqliteIn(folder string) database {
	file := filepath.Join(folder, "gatherkit.db")
	pragmas := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"}}
	dsn := url.URL{Scheme: "file", Path: file, RawQuery: pragmas.Encode()}
	return database{flags: []string{"--data=" + folder}, driver: "sqlite", dsn: dsn.String(), file: file}
}

// postgresBeside creates a database on the server of another one.
func postgresBeside(ctx context.Context, other, name string) (d database, remove func() error, err error) {
	address, err := url.Parse(other)
	if err != nil {
		return d, nil, err
	}
	name = "bench_" + name + "_" + strings.ToLower(rand.Text()[:8])
	run := func(ctx context.Context, statement string) error {
		db, err := sql.Open("pgx", other)
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, statement)
		return errors.Join(err, db.Close())
	}
	address.Path = "/" + name
	d = database{flags: []string{"--database=" + address.String()}, driver: "pgx", dsn: address.String()}
	return d, func() error {
		return run(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)")
	}, run(ctx, "CREATE DATABASE "+name)
}

// open creates the tables with gatherkit migrate, and connects to the database directly.
func (d database) open(ctx context.Context, binary string) (*sql.DB, error) {
	if out, err := exec.CommandContext(ctx, binary, append([]string{"migrate"}, d.flags...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot create the tables: %w\n%s", err, out)
	}
	db, err := sql.Open(d.driver, d.dsn)
	if err == nil && d.driver == "sqlite" {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// bytes returns the size of the database: that of SQLite's file after a checkpoint, or what
// PostgreSQL says.
func (r rig) bytes(ctx context.Context) (n int64, err error) {
	if r.driver == "pgx" {
		err = r.db.QueryRowContext(ctx, "SELECT pg_database_size(current_database())").Scan(&n)
		return n, err
	}
	// A checkpoint does not end while the service reads.
	for busy := 1; busy != 0; {
		var pages, written int
		if err := r.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &written); err != nil {
			return 0, err
		}
	}
	info, err := os.Stat(r.file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// part is a table without its indexes, or an index.
type part struct {
	name  string
	bytes int64
}

// bytesOfParts returns the sizes of all tables and indexes, the largest first. On SQLite, an index of a primary key is
// called sqlite_autoindex and the name of the table.
func (r rig) bytesOfParts(ctx context.Context) ([]part, error) {
	sizes := "SELECT name, SUM(pgsize) FROM dbstat WHERE aggregate = TRUE GROUP BY name ORDER BY 2 DESC"
	if r.driver == "pgx" {
		sizes = "SELECT relname, CASE relkind WHEN 'r' THEN pg_table_size(oid) ELSE pg_relation_size(oid) END FROM pg_class" +
			" WHERE relkind IN ('r', 'i') AND relnamespace = CAST(current_schema() AS regnamespace) ORDER BY 2 DESC"
	}
	return all(ctx, r.db, func(found *sql.Rows) (p part, err error) {
		err = found.Scan(&p.name, &p.bytes)
		return p, err
	}, sizes)
}

// all returns what scan returns for each row of a query.
func all[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), query string) (list []T, err error) {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // Err returns all errors that matter
	for found.Next() {
		one, err := scan(found)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, found.Err()
}

// insert adds rows to a table, many with each statement.
func insert(ctx context.Context, tx *sql.Tx, into string, numbered bool, values [][]any) error {
	const most = 500
	for len(values) > 0 {
		piece := values[:min(most, len(values))]
		values = values[len(piece):]
		statement := "INSERT INTO " + into + " VALUES " + rows(len(piece), len(piece[0]), numbered)
		if _, err := tx.ExecContext(ctx, statement, slices.Concat(piece...)...); err != nil {
			return fmt.Errorf("cannot insert into %s: %w", into, err)
		}
	}
	return nil
}

// rows returns the placeholders of n rows: (?,…),(?,…)… or ($1,…),($2,…)… if numbered.
func rows(n, columns int, numbered bool) string {
	tuples := make([]string, n)
	for r := range tuples {
		marks := make([]string, columns)
		for c := range marks {
			if marks[c] = "?"; numbered {
				marks[c] = fmt.Sprintf("$%d", r*columns+c+1)
			}
		}
		tuples[r] = "(" + strings.Join(marks, ",") + ")"
	}
	return strings.Join(tuples, ",")
}
