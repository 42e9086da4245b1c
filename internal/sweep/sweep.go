// Package sweep removes what has expired, in short transactions, and collects the errors of the
// parts that fail.
package sweep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"gatherkit/internal/database"
)

// Chunk is how many rows one transaction changes.
const Chunk = 1000

// InChunks runs a statement that changes up to Chunk rows until it changes fewer. Each run is a
// transaction of its own.
func InChunks(ctx context.Context, db *database.DB, statement string, args ...any) error {
	return Repeat(ctx, db, func(ctx context.Context, tx *sql.Tx) (int, error) {
		n, err := database.Changed(ctx, tx, statement, args...)
		return int(n), err
	})
}

// Repeat calls do, each time in a transaction of its own, until it changes fewer than Chunk rows.
func Repeat(ctx context.Context, db *database.DB, do func(context.Context, *sql.Tx) (changed int, err error)) error {
	for n := Chunk; n == Chunk; {
		err := db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			n, err = do(ctx, tx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// GivesUp reports whether a sweep should stop after err, because the database or the storage
// of files is away.
func GivesUp(ctx context.Context, db *database.DB, err error) bool {
	return err != nil && (ctx.Err() != nil || db.Unavailable(err) && !database.Answered(err))
}

// Recovered calls do, and returns a panic as an error.
func Recovered(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return do()
}

// maxErrors is how many errors of a sweep are reported.
const maxErrors = 5

// Errors is the errors of many steps.
type Errors struct {
	first []error
	more  int
}

// Add adds an error unless it is nil.
func (l *Errors) Add(err error) {
	switch {
	case err == nil:
	case len(l.first) < maxErrors:
		l.first = append(l.first, err)
	default:
		l.more++
	}
}

// Err returns the first errors and the number of the others, or nil if there are none.
func (l *Errors) Err() error {
	if l.more > 0 {
		return errors.Join(append(slices.Clip(l.first), fmt.Errorf("%d more errors", l.more))...)
	}
	return errors.Join(l.first...)
}
