// Package usage counts what each account uses on each day (UTC): calls and how long they take, submissions, files and
// mails. A process counts in memory and adds its counts to the database every few seconds, so that no call writes more
// because it is counted. A process that crashes loses the counts that it has not added.
package usage

import (
	"cmp"
	"context"
	"database/sql"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

const (
	// addEvery is how often a process adds its counts to the database.
	addEvery = 20 * time.Second
	// KeptFor is how many days the counts of a day are kept.
	KeptFor = 400
)

// lastTime is how long a process that ends may take to add its last counts.
var lastTime = deadline.Of(5 * time.Second)

// Use is what was used in some time.
type Use struct {
	Calls       int64         `json:"calls" doc:"Calls with the API keys, tokens and sessions of the account, and of its portals and private links."`
	Busy        time.Duration `json:"-"`
	Submissions int64         `json:"submissions" doc:"Requests that people outside sent."`
	Files       int64         `json:"files" doc:"Files that were attached to them."`
	FileBytes   int64         `json:"file_bytes" doc:"Size of these files."`
	Mails       int64         `json:"mails" doc:"Mails that were sent for the account."`
}

// add adds what was used in another time.
func (u *Use) add(other Use) {
	u.Calls += other.Calls
	u.Busy += other.Busy
	u.Submissions += other.Submissions
	u.Files += other.Files
	u.FileBytes += other.FileBytes
	u.Mails += other.Mails
}

// Submission is the use of a request with files that was sent from outside.
func Submission(files []feedback.Attachment) Use {
	u := Use{Submissions: 1, Files: int64(len(files))}
	for _, f := range files {
		u.FileBytes += f.Size
	}
	return u
}

// account and day of a count.
type key struct {
	account feedback.ID
	day     feedback.Day
}

// count is what an account has used on a day, and when it was last used.
type count struct {
	Use
	last feedback.Time
}

// Usage counts. Its methods are safe for concurrent use.
type Usage struct {
	db  *database.DB
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	waiting map[key]*count       // what is not in the database yet
	since   map[feedback.ID]*Use // of all accounts, since this process began
}

// New returns a Usage that has counted nothing.
func New(db *database.DB, log *slog.Logger, now func() time.Time) *Usage {
	return &Usage{db: db, log: log, now: now, waiting: map[key]*count{}, since: map[feedback.ID]*Use{}}
}

// Count counts what an account has just used.
func (u *Usage) Count(accountID feedback.ID, used Use) {
	now := u.now()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wait(key{accountID, feedback.DayOf(now)}, count{used, feedback.At(now)})
	all := u.since[accountID]
	if all == nil {
		all = &Use{}
		u.since[accountID] = all
	}
	all.add(used)
}

// Call counts a call of an account that kept the service busy for a time.
func (u *Usage) Call(accountID feedback.ID, busy time.Duration) {
	u.Count(accountID, Use{Calls: 1, Busy: busy})
}

// wait adds a count to those that are not in the database yet.
func (u *Usage) wait(k key, c count) {
	waits := u.waiting[k]
	if waits == nil {
		waits = &count{}
		u.waiting[k] = waits
	}
	waits.add(c.Use)
	waits.last = max(waits.last, c.last)
}

// Run adds what is counted to the database every few seconds until ctx ends, and then once more. What cannot be added
// is kept for the next time.
func (u *Usage) Run(ctx context.Context) {
	tick := time.NewTicker(addEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			u.addLast(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
		if err := u.Add(ctx); err != nil && ctx.Err() == nil {
			u.log.Warn("the usage of the accounts cannot be stored now", "error", err)
		}
	}
}

// addLast adds what is counted when the process ends.
func (u *Usage) addLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastTime)
	defer cancel()
	if err := u.Add(ctx); err != nil {
		u.log.Warn("the latest usage of the accounts is lost", "error", err)
	}
}

// Add adds what is counted to the database.
func (u *Usage) Add(ctx context.Context) error {
	u.mu.Lock()
	taken := u.waiting
	u.waiting = map[key]*count{}
	u.mu.Unlock()
	// All processes add in the same order, so that they do not wait for each other in a circle.
	keys := slices.SortedFunc(maps.Keys(taken), func(a, b key) int {
		if c := a.account.Compare(b.account); c != 0 {
			return c
		}
		return int(a.day - b.day)
	})
	for _, some := range database.Pieces(keys) {
		if err := u.addSome(ctx, some, taken); err != nil {
			u.putBack(taken)
			return err
		}
		for _, k := range some {
			delete(taken, k)
		}
	}
	return nil
}

// putBack keeps counts that could not be added for the next time.
func (u *Usage) putBack(taken map[key]*count) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for k, c := range taken {
		u.wait(k, *c)
	}
}

// addSome adds the counts of some keys in one transaction.
func (u *Usage) addSome(ctx context.Context, keys []key, counts map[key]*count) error {
	const columns = 9
	args := make(database.Parameters, 0, columns*len(keys))
	for _, k := range keys {
		c := counts[k]
		args = append(args, k.account, k.day, c.Calls, c.Busy.Microseconds(), c.Submissions, c.Files, c.FileBytes, c.Mails, c.last)
	}
	return u.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO usage_days"+
			" (account_id, day, calls, busy_us, submissions, files, file_bytes, mails, last_at) VALUES "+
			database.Placeholders(len(keys), columns)+` ON CONFLICT (account_id, day) DO UPDATE SET
			calls = usage_days.calls + excluded.calls, busy_us = usage_days.busy_us + excluded.busy_us,
			submissions = usage_days.submissions + excluded.submissions,
			files = usage_days.files + excluded.files, file_bytes = usage_days.file_bytes + excluded.file_bytes,
			mails = usage_days.mails + excluded.mails,
			last_at = CASE WHEN usage_days.last_at > excluded.last_at THEN usage_days.last_at ELSE excluded.last_at END`, args...)
		return err
	})
}

// DayUsage is what an account has used on a day.
type DayUsage struct {
	Day feedback.Day `json:"day" format:"date" doc:"In UTC."`
	Use
	Seconds float64 `json:"call_seconds" doc:"How long the calls took, without the time to receive and send files and to wait for events."`
}

// Days returns what an account has used since a day, without days on which it used nothing, the latest first.
func (u *Usage) Days(ctx context.Context, accountID feedback.ID, since feedback.Day) ([]DayUsage, error) {
	return database.All(ctx, u.db.Reader(), func(r database.Row) (d DayUsage, err error) {
		var busy int64
		err = r.Scan(&d.Day, &d.Calls, &busy, &d.Submissions, &d.Files, &d.FileBytes, &d.Mails)
		d.Busy = time.Duration(busy) * time.Microsecond
		d.Seconds = d.Busy.Seconds()
		return d, err
	}, "SELECT day, calls, busy_us, submissions, files, file_bytes, mails FROM usage_days WHERE account_id = $1 AND day >= $2"+
		" ORDER BY day DESC", accountID, since)
}

// Submitted returns how many requests people have sent to accounts since a day. It includes what this process has not
// added yet, and not what others have not.
func (u *Usage) Submitted(
	ctx context.Context, q database.Queryer, accountIDs []feedback.ID, since feedback.Day,
) (map[feedback.ID]int64, error) {
	submitted := make(map[feedback.ID]int64, len(accountIDs))
	p := database.Parameters{since}
	err := database.Each(ctx, q, func(r database.Row) error {
		var id feedback.ID
		var n int64
		err := r.Scan(&id, &n)
		submitted[id] = n
		return err
	}, "SELECT account_id, CAST(SUM(submissions) AS BIGINT) FROM usage_days WHERE day >= $1 AND account_id IN ("+
		database.List(&p, database.Padded(accountIDs))+") GROUP BY account_id", p...)
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range accountIDs {
		for day := since; day <= feedback.DayOf(u.now()); day++ {
			if waits := u.waiting[key{id, day}]; waits != nil {
				submitted[id] += waits.Submissions
			}
		}
	}
	return submitted, err
}

// Top is an account with what it has used since this process began.
type Top struct {
	AccountID feedback.ID
	Use
}

// Top returns the n accounts whose calls have taken longest since this process began.
func (u *Usage) Top(n int) []Top {
	u.mu.Lock()
	all := make([]Top, 0, len(u.since))
	for id, use := range u.since {
		all = append(all, Top{id, *use})
	}
	u.mu.Unlock()
	slices.SortFunc(all, func(a, b Top) int {
		return cmp.Or(cmp.Compare(b.Busy, a.Busy), a.AccountID.Compare(b.AccountID))
	})
	return all[:min(n, len(all))]
}

// Sweep deletes the counts of some accounts that are older than KeptFor days.
func (u *Usage) Sweep(ctx context.Context, accounts []feedback.ID) error {
	return sweep.Rows{Table: "usage_days", Key: "day", Where: "day < $1"}.Delete(ctx, u.db, accounts, feedback.DayOf(u.now())-KeptFor)
}
