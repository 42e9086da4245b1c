package row

import (
	"context"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Kept returns those of the requests that have rows of votes, or requests merged into them. The vote of a submitter
// has no row while it is the only one of the others.
func Kept(ctx context.Context, q database.Queryer, accountID feedback.ID, ids []feedback.ID) ([]feedback.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	p := database.Parameters{accountID}
	in := "(" + database.List(&p, database.Padded(ids)) + ")"
	return database.All(ctx, q, database.One[feedback.ID], "SELECT request_id FROM votes WHERE account_id = $1 AND request_id IN "+in+
		" UNION SELECT merged_into_id FROM requests WHERE account_id = $1 AND merged_into_id IN "+in, p...)
}
