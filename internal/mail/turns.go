package mail

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// turns lets accounts take turns with what is due in a table, so that an account with much of it does not delay
// the others.
type turns struct {
	table string
	next  feedback.ID // the account after which it continues
}

// turn is how many rows of an account a step takes.
type turn struct {
	accountID feedback.ID
	most      int
}

// accountsAtOnce is how many accounts a step serves.
const accountsAtOnce = 20

// take returns the accounts that a step serves with together most rows, and whether there may be more due. It leaves out
// accounts that are suspended.
func (t *turns) take(ctx context.Context, db *database.DB, now time.Time, most int) (list []turn, more bool, err error) {
	began, due := t.next, feedback.At(now)
	var first feedback.Time // without anything due, all that is due later is not read
	err = db.Reader().QueryRowContext(ctx, "SELECT due_at FROM "+t.table+" WHERE due_at + 0 <= $1"+
		" AND due_at IS NOT NULL ORDER BY due_at + 0 LIMIT 1", due).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	suspended, err := database.All(ctx, db.Reader(), database.One[feedback.ID],
		"SELECT account_id FROM accounts WHERE suspended_at IS NOT NULL")
	if err != nil {
		return nil, false, err
	}
	for len(list) < accountsAtOnce {
		var id feedback.ID
		err := db.Reader().QueryRowContext(ctx, "SELECT account_id FROM "+t.table+" WHERE account_id > $1 AND due_at <= $2"+
			" ORDER BY account_id LIMIT 1", t.next, due).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			t.next = feedback.ID{}
			break
		}
		if err != nil {
			return nil, false, err
		}
		if t.next = id; !slices.Contains(suspended, id) {
			list = append(list, turn{accountID: id})
		}
	}
	for n := range list {
		list[n].most = max(1, most/len(list))
	}
	return list, len(list) > 0 || began != t.next, nil
}
