package database

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNotCitus says that Distribute needs PostgreSQL with the Citus extension.
var ErrNotCitus = errors.New("distribute needs PostgreSQL with the Citus extension")

// Shards say how Citus distributes tables over machines.
type Shards struct {
	// Root is the table that is distributed first, by its primary key. Tables whose primary key
	// begins with the same column are placed beside it. Others are distributed by the first
	// column of their own primary key.
	Root string
	// Local are the tables that stay on the coordinator.
	Local []string
}

// table is a table and the first column of its primary key.
type table struct{ name, key string }

// Distribute distributes the tables that Citus does not distribute yet, and returns the statements
// for it. With dryRun it only returns them; Citus need not be installed then. Otherwise it returns
// ErrNotCitus if the database does not have Citus.
func (db *DB) Distribute(ctx context.Context, shards Shards, dryRun bool) (statements []string, err error) {
	if db.link == nil {
		return nil, fmt.Errorf("%w; name the database with --database", ErrNotCitus)
	}
	tables, err := All(ctx, db.reader, func(r Row) (t table, err error) {
		err = r.Scan(&t.name, &t.key)
		return t, err
	}, `SELECT c.relname, a.attname FROM pg_index i
		JOIN pg_class c ON c.oid = i.indrelid
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
		WHERE i.indisprimary AND c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname`)
	if err != nil {
		return nil, err
	}
	done, installed, err := db.distributedTables(ctx)
	if err == nil && !installed && !dryRun {
		err = fmt.Errorf("%w; install it on each machine, and run CREATE EXTENSION citus in this database", ErrNotCitus)
	}
	if err != nil {
		return nil, err
	}
	statements = shards.statements(tables, done)
	if dryRun {
		return statements, nil
	}
	for _, statement := range statements {
		if _, err := db.writer.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return statements, nil
}

// distributedTables returns the tables that Citus distributes, and whether it is installed.
func (db *DB) distributedTables(ctx context.Context) (names []string, installed bool, err error) {
	err = db.reader.QueryRowContext(ctx, "SELECT to_regclass('pg_dist_partition') IS NOT NULL").Scan(&installed)
	if err != nil || !installed {
		return nil, false, err
	}
	names, err = All(ctx, db.reader, One[string], "SELECT c.relname FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrel")
	return names, true, err
}

// Distributed reports whether accounts were on several machines when the database was opened. A statement about several
// accounts then needs all of these machines.
func (db *DB) Distributed() bool { return db.distributed }

// statements returns a statement for each table that is neither local nor done, the root's first.
func (s Shards) statements(tables []table, done []string) (statements []string) {
	at := slices.IndexFunc(tables, func(t table) bool { return t.name == s.Root })
	if at < 0 {
		return nil
	}
	root := tables[at]
	for _, t := range append([]table{root}, slices.Delete(slices.Clone(tables), at, at+1)...) {
		if slices.Contains(done, t.name) || slices.Contains(s.Local, t.name) {
			continue
		}
		beside := ""
		if t.key == root.key && t != root {
			beside = ", colocate_with => " + quoted(root.name)
		}
		statements = append(statements, "SELECT create_distributed_table("+quoted(t.name)+", "+quoted(t.key)+beside+")")
	}
	return statements
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
