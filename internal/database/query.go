package database

import (
	"context"
	"database/sql"
	"errors"
	"math/bits"
	"slices"
	"strconv"
)

// Queryer is a pool of connections or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Row is one row of a result.
type Row interface{ Scan(dest ...any) error }

// All runs a query and returns the results of scan, one per row.
func All[T any](ctx context.Context, q Queryer, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
	list := []T{}
	err := Each(ctx, q, func(r Row) error {
		item, err := scan(r)
		list = append(list, item)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Each runs a query and calls visit with each row, until one returns an error.
func Each(ctx context.Context, q Queryer, visit func(Row) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// RowWith is a row with more columns at its end, which Scan stores in More.
type RowWith struct {
	Row
	More []any
}

// Scan implements Row.
func (r RowWith) Scan(dest ...any) error { return r.Row.Scan(append(dest, r.More...)...) }

// One scans a row of one column.
func One[T any](r Row) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// Changed runs a statement and returns how many rows it changed.
func Changed(ctx context.Context, q Queryer, query string, args ...any) (int64, error) {
	result, err := q.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Parameters collects the values of a statement that is built from fixed parts.
type Parameters []any

// Add adds a value and returns its placeholder.
func (p *Parameters) Add(v any) string {
	*p = append(*p, v)
	return "$" + strconv.Itoa(len(*p))
}

// List adds several values and returns "$n,$m,…".
func List[T any](p *Parameters, values []T) string {
	*p = slices.Grow(*p, len(values))
	marks := make([]byte, 0, 5*len(values))
	for i, v := range values {
		*p = append(*p, v)
		if i > 0 {
			marks = append(marks, ',')
		}
		marks = strconv.AppendInt(append(marks, '$'), int64(len(*p)), 10)
	}
	return string(marks)
}

// Placeholders returns ($1,$2),($3,$4)… for the given numbers of rows and columns.
func Placeholders(rows, columns int) string {
	b := make([]byte, 0, rows*columns*6)
	for r := range rows {
		if r > 0 {
			b = append(b, ',')
		}
		for c := range columns {
			b = append(b, "(,"[min(c, 1)], '$')
			b = strconv.AppendInt(b, int64(r*columns+c+1), 10)
		}
		b = append(b, ')')
	}
	return string(b)
}

// maxPiece is the length of the longest piece of Pieces. With up to 127 values for each
// of its elements a statement stays below SQLite's 32,766 parameters.
const maxPiece = 256

// Pieces cuts a list into pieces of few lengths: 1 to 7, multiples of 8 up to 64, and multiples of 32 up to 256. Up to 71
// elements make at most two of them. Each length makes another statement, which connections keep prepared; hundreds of
// them would take tens of megabytes.
func Pieces[T any](list []T) [][]T {
	var pieces [][]T
	for len(list) > 0 {
		n := min(maxPiece, len(list))
		switch {
		case n > 64:
			n -= n % 32
		case n > 8:
			n -= n % 8
		}
		pieces = append(pieces, list[:n])
		list = list[n:]
	}
	return pieces
}

// Padded repeats the last value of a list until its length is a power of two, for
// statements in which it may be repeated: with Pieces, most lists make several.
func Padded[T any](list []T) []T {
	if len(list) == 0 {
		return list
	}
	n := 1 << bits.Len(uint(len(list)-1))
	return append(slices.Clip(list), slices.Repeat(list[len(list)-1:], n-len(list))...)
}

// Read runs fn in a transaction that only reads, and sees one state of the database.
func (db *DB) Read(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	return fn(tx)
}

// OrNotFound returns notFound if err is sql.ErrNoRows, and err otherwise.
func OrNotFound(err, notFound error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return notFound
	}
	return err
}
