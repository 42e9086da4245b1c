package index

import (
	"context"
	"database/sql"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// List returns a page of the requests that the filter matches, and how many it matches in
// total. It refuses with ErrAppNotFound when the filter names an app that the account does
// not have.
func (x *Index) List(
	ctx context.Context, accountID feedback.ID, f Filter, page Page,
) (requests []feedback.Request, total Total, err error) {
	read := func(q database.Queryer) error {
		s, err := Resolve(ctx, x.db, q, accountID, f)
		if err != nil {
			return err
		}
		total = s.Total()
		requests, err = s.Page(ctx, q, page)
		return err
	}
	if f.Query != "" {
		if err := x.counting.Acquire(ctx, accountID, 1); err != nil {
			return nil, total, err
		}
		defer x.counting.Release(accountID, 1)
	}
	if f.counted() {
		err = read(x.db.Reader())
	} else {
		err = x.db.Read(ctx, func(tx *sql.Tx) error { return read(tx) })
	}
	return requests, total, err
}
