package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
)

// maxGroup is how many submissions, or votes, of one account share a transaction. 25
// columns a row keep their statements below SQLite's 32,766 parameters.
const maxGroup = 256

// errRefused undoes a transaction in which some members of a group were refused.
var errRefused = errors.New("a member of the group was refused")

// writeGroup runs write in one transaction for the members of a group, which are numbered
// from zero. When write refuses some, which is rare, the transaction is undone and the
// others are tried again: what was written for the refused must not stay. It returns why
// each of those was refused.
func (s *Store) writeGroup(
	ctx context.Context, size int, write func(ctx context.Context, tx *sql.Tx, members []int) (refused map[int]error, err error),
) (map[int]error, error) {
	members := make([]int, size)
	for i := range members {
		members[i] = i
	}
	all := map[int]error{}
	for len(members) > 0 {
		var refused map[int]error
		err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
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
