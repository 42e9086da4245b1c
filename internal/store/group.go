package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"gatherkit/internal/feedback"
)

// maxGroup is the maximum number of submissions, or votes, of one account in a transaction.
// With up to 25 columns per row, the statements stay below SQLite's 32,766 parameters.
const maxGroup = 256

// errRefused rolls back a transaction in which members of a group were refused.
var errRefused = errors.New("a member of the group was refused")

// refusal reports whether an error is one that callers receive as it is.
func refusal(err error) bool {
	var e *feedback.Error
	return errors.As(err, &e)
}

// transaction runs fn in a transaction.
type transaction func(ctx context.Context, fn func(context.Context, *sql.Tx) error) error

// of returns the transactions of an account.
func (s *Store) of(accountID feedback.ID) transaction {
	return func(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
		return s.db.WriteFor(ctx, accountID, fn)
	}
}

// writeGroup runs write in one transaction for the members of a group, numbered from zero. If
// write refuses some, which is rare, writeGroup rolls back the transaction, as it may have
// written data of these, and runs write again for the others. It returns the errors of the
// refused members.
func writeGroup(
	ctx context.Context, in transaction, size int,
	write func(ctx context.Context, tx *sql.Tx, members []int) (refused map[int]error, err error),
) (map[int]error, error) {
	members := make([]int, size)
	for i := range members {
		members[i] = i
	}
	all := map[int]error{}
	for len(members) > 0 {
		var refused map[int]error
		err := in(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			refused, err = write(ctx, tx, members)
			if err == nil && len(refused) > 0 {
				err = errRefused
			}
			return err
		})
		if !errors.Is(err, errRefused) {
			return all, err
		}
		maps.Copy(all, refused)
		members = slices.DeleteFunc(members, func(i int) bool { return refused[i] != nil })
	}
	return all, nil
}
