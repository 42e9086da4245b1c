package sweep

import (
	"context"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Rows are rows of accounts that have expired. Most accounts have none at most times, so one statement finds out which of
// many accounts have some.
type Rows struct {
	Table string
	Key   string // the columns that identify a row of an account
	Where string // which rows have expired: a condition with the parameters $1 and so on
	Order string // the column by which an index finds them, where the database would not choose the index otherwise
}

// Delete deletes the rows of some accounts. args are the parameters of the condition. A failure in one account does not
// keep it from the others.
func (r Rows) Delete(ctx context.Context, db *database.DB, accounts []feedback.ID, args ...any) error {
	return r.Change(ctx, db, accounts, "DELETE FROM "+r.Table, args...)
}

// Change runs a statement, which is given without its condition, for the rows instead of deleting them. Afterwards, they
// must not fulfil Where.
func (r Rows) Change(ctx context.Context, db *database.DB, accounts []feedback.ID, statement string, args ...any) error {
	return r.Each(ctx, db, accounts, args, func(accountID feedback.ID) error {
		p := append(database.Parameters{}, args...)
		where := " WHERE account_id = " + p.Add(accountID) + " AND "
		some := "SELECT " + r.Key + " FROM " + r.Table + where + r.Where
		if r.Order != "" {
			some += " ORDER BY " + r.Order
		}
		return InChunks(ctx, db, statement+where+"("+r.Key+") IN ("+some+" LIMIT "+p.Add(Chunk)+")", p...)
	})
}

// Each calls do for those of some accounts that have such rows. If it cannot find out which these are, because the
// machine of one of them is away, it calls do for each. A failure in one account does not keep it from the others.
func (r Rows) Each(ctx context.Context, db *database.DB, accounts []feedback.ID, args []any, do func(feedback.ID) error) error {
	var failed Errors
	for _, piece := range database.Pieces(accounts) {
		p := append(database.Parameters{}, args...)
		found, err := database.All(ctx, db.Reader(), database.One[feedback.ID],
			"SELECT DISTINCT account_id FROM "+r.Table+" WHERE account_id IN ("+database.List(&p, piece)+") AND "+r.Where, p...)
		switch {
		case database.Answered(err):
			found = piece
		case err != nil:
			failed.Add(err)
			return failed.Err()
		}
		for _, accountID := range found {
			err := do(accountID)
			failed.Add(err)
			if GivesUp(ctx, db, err) {
				return failed.Err()
			}
		}
	}
	return failed.Err()
}
