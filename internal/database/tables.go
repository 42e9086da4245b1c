package database

import (
	"context"
	"slices"
	"strings"
)

// Table is a table of the database.
type Table struct {
	Name    string
	Columns []string
	types   []string // of the columns, as the database calls them
	Key     []string // the columns of the primary key
}

// Column returns the place of a column in the rows of the table. The table must have it.
func (t Table) Column(name string) int { return slices.Index(t.Columns, name) }

// Tables returns all tables, in the order of their names.
func (db *DB) Tables(ctx context.Context) ([]Table, error) {
	type column struct {
		table, name, kind string
		key               int // its place in the primary key, from 1, or 0
	}
	columns, err := All(ctx, db.reader, func(r Row) (c column, err error) {
		return c, r.Scan(&c.table, &c.name, &c.kind, &c.key)
	}, db.dialect.columns)
	if err != nil {
		return nil, err
	}
	var tables []Table
	for _, c := range columns {
		if len(tables) == 0 || tables[len(tables)-1].Name != c.table {
			tables = append(tables, Table{Name: c.table})
		}
		t := &tables[len(tables)-1]
		t.Columns, t.types = append(t.Columns, c.name), append(t.types, strings.ToLower(c.kind))
		if c.key > 0 {
			t.Key = append(t.Key, c.name)
		}
	}
	return tables, nil
}
