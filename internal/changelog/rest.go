package changelog

import (
	"context"
	"time"

	"gatherkit/internal/database"
)

// lookAgain is after how long work that follows the logs looks at all accounts again, although no log has grown. Another
// process may have changed how far the work has come; and the sum stays the same if one log grows while a log of the same
// length is deleted.
const lookAgain = 30 * time.Second

// Rest lets work that follows the logs of all accounts rest while none of them grows. To ask which accounts have new
// entries costs several times as much as the sum of all entries. The zero value does not rest.
type Rest struct {
	entries int64 // of all logs together, at the last call of Over
	resting bool  // whether all of them were done
	until   time.Time
}

// Over reports whether there may be new entries. It returns true if it cannot find out.
func (r *Rest) Over(ctx context.Context, q database.Queryer, now time.Time) (bool, error) {
	before := r.entries
	err := q.QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(last), 0) AS BIGINT) FROM account_seq").Scan(&r.entries)
	over := err != nil || !r.resting || r.entries != before || !now.Before(r.until) || r.until.Sub(now) > lookAgain
	r.resting = r.resting && !over
	return over, err
}

// Begin says that the work has found no new entries after the last call of Over.
func (r *Rest) Begin(now time.Time) { r.resting, r.until = true, now.Add(lookAgain) }
