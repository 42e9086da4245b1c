package database

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// mostValues is how many values one statement inserts. Both databases take more.
const mostValues = 20_000

// Rows are the number of some rows, and a sum of their contents that does not depend on their order or on the kind of
// the database.
type Rows struct {
	N   int64
	Sum [sha256.Size]byte
}

// add adds a row in SQLite's form. Rows have keys, so that no two cancel each other.
func (s *Rows) add(row []any) {
	h := sha256.New()
	for _, value := range row {
		kind, content := byte('-'), []byte(nil)
		switch v := value.(type) {
		case []byte:
			kind, content = 'b', v
		case string:
			kind, content = 't', []byte(v)
		case int64:
			kind, content = 'i', binary.BigEndian.AppendUint64(nil, uint64(v)) //nolint:gosec // only its bits
		}
		_, _ = h.Write(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(content))))
		_, _ = h.Write(content)
	}
	for i, b := range h.Sum(nil) {
		s.Sum[i] ^= b
	}
	s.N++
}

// ReadRows reads rows of a table, calls fn with each in SQLite's form unless fn is nil, and returns what it has read, as fn
// has changed it. condition limits the rows unless it is empty.
func ReadRows(ctx context.Context, q Queryer, t Table, condition string, args []any, fn func(row []any) error) (read Rows, err error) {
	columns := strings.Join(t.Columns, ", ") // the names are those of the schema
	query := "SELECT " + columns + " FROM " + t.Name + " " + condition
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return read, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error
	for rows.Next() {
		row, into := make([]any, len(t.Columns)), make([]any, len(t.Columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return read, err
		}
		for i := range row {
			if row[i], err = inSQLite(row[i], t.types[i]); err != nil {
				return read, fmt.Errorf("%s.%s: %w", t.Name, t.Columns[i], err)
			}
		}
		if fn != nil {
			if err := fn(row); err != nil {
				return read, err
			}
		}
		read.add(row)
	}
	return read, rows.Err()
}

// inSQLite returns a value as SQLite has it.
func inSQLite(value any, kind string) (any, error) {
	switch v := value.(type) {
	case nil, int64:
		return value, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case []byte:
		if kind == "text" { // a driver may return texts so
			return string(v), nil
		}
		return v, nil
	case string:
		if kind == "uuid" {
			return hex.DecodeString(strings.ReplaceAll(v, "-", ""))
		}
		return v, nil
	}
	return nil, fmt.Errorf("a value of the type %T", value)
}

// InsertRows inserts rows in SQLite's form into a table, except those whose key it has.
func (db *DB) InsertRows(ctx context.Context, tx *sql.Tx, t Table, rows [][]any) error {
	for part := range slices.Chunk(rows, mostValues/len(t.Columns)) {
		if err := db.insertRows(ctx, tx, t, part); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) insertRows(ctx context.Context, tx *sql.Tx, t Table, rows [][]any) error {
	var p Parameters
	var values strings.Builder
	for n, row := range rows {
		separator := ", ("
		if n == 0 {
			separator = "("
		}
		for i, value := range row {
			if v, ok := value.(int64); ok && t.types[i] == "boolean" {
				value = v != 0
			}
			_, _ = values.WriteString(separator + p.Add(value))
			separator = ", "
		}
		_, _ = values.WriteString(")")
	}
	into := t.Name + " (" + strings.Join(t.Columns, ", ") + ")"                                   // the names are those of the schema
	statement := "INSERT INTO " + into + " VALUES " + values.String() + " ON CONFLICT DO NOTHING" //nolint:gosec // see above
	_, err := tx.ExecContext(ctx, statement, p...)
	return err
}

// TakeRows copies rows of a table, as ReadRows reads them and fn changes them unless it is nil, into the table of the same
// name and columns, except those whose key it has, and returns all rows that it has read. It inserts some rows at once, each
// time in a transaction of its own, and then calls progress with the number of all until then. An error of fn or of progress
// ends it.
func (db *DB) TakeRows(
	ctx context.Context, to Table, q Queryer, from Table, condition string, args []any, atOnce int, fn func(row []any) error,
	progress func(rows int64) error,
) (read Rows, err error) {
	var waiting [][]any
	done := int64(0)
	insert := func() error {
		tx, err := db.writer.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after a commit it does nothing, and otherwise the cause is returned
		if err := db.InsertRows(ctx, tx, to, waiting); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		done += int64(len(waiting))
		waiting = waiting[:0]
		return progress(done)
	}
	read, err = ReadRows(ctx, q, from, condition, args, func(row []any) error {
		if fn != nil {
			if err := fn(row); err != nil {
				return err
			}
		}
		if waiting = append(waiting, row); len(waiting) < atOnce {
			return nil
		}
		return insert()
	})
	if err == nil && len(waiting) > 0 {
		err = insert()
	}
	return read, err
}
