package mail

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Status is how the mail server does, how much waits for it, and what could not be written or delivered.
type Status struct {
	ServerStatus
	Waiting  int64    `json:"waiting" doc:"Mails of the account that wait, at most 1,000."`
	Failing  int64    `json:"failing" doc:"How much mail of the account has failed, at most 1,000. It is tried again, or was given up in the last seven days."`
	Failures []Unsent `json:"failures" nullable:"false" doc:"Some of it, at most 20."`
}

// Unsent is mail that failed and is tried again, or was given up.
type Unsent struct {
	Kind      string         `json:"kind" enum:"confirm,update,digest,link,news" doc:"confirm: asks somebody to confirm an address. update: says what is new. digest and link go to users. news: a request whose news cannot be read."`
	Recipient *string        `json:"recipient" doc:"The address; null if no mail could be written."`
	Attempts  int            `json:"attempts" doc:"How often it was tried."`
	Since     feedback.Time  `json:"since" format:"date-time" doc:"When it was first tried, or when the mail was written."`
	RetryAt   *feedback.Time `json:"retry_at" format:"date-time" doc:"When it is tried again; null if it was given up."`
	Error     string         `json:"error" doc:"Why it failed last."`
}

const (
	// maxWaiting is the highest number that Status counts to, and maxFailures how many failures it has.
	maxWaiting  = 1000
	maxFailures = 20
)

// setAside are the kinds of failures that package aside knows.
var setAside = map[aside.Kind]string{aside.Follow: "news", aside.Write: string(updateMail), aside.Digest: string(digestMail)}

// Status returns how the mail server does, how many mails of an account wait, and what has failed.
func (m *Mail) Status(ctx context.Context, accountID feedback.ID) (s Status, err error) {
	if s.ServerStatus, err = m.serverStatus(ctx); err != nil {
		return s, err
	}
	err = m.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM mails WHERE account_id = $1 AND due_at < $3"+
		" ORDER BY due_at LIMIT $2) AS w",
		accountID, maxWaiting, never).Scan(&s.Waiting)
	if err != nil {
		return s, err
	}
	failed, err := database.All(ctx, m.db.Reader(), func(r database.Row) (f Unsent, err error) {
		var id feedback.ID
		f.RetryAt = new(feedback.Time)
		err = r.Scan(&id, &f.Kind, &f.Recipient, &f.Attempts, f.RetryAt, &f.Error)
		if f.Since = id.Time(); *f.RetryAt == never {
			f.RetryAt = nil
		}
		return f, err
	}, "SELECT id, kind, recipient, attempts, due_at, error FROM mails WHERE account_id = $1 AND error IS NOT NULL AND attempts > 0"+
		" ORDER BY id DESC LIMIT CAST($2 AS BIGINT)", accountID, maxWaiting)
	if err != nil {
		return s, err
	}
	items, err := m.aside.Of(ctx, accountID, maxWaiting, slices.Collect(maps.Keys(setAside))...)
	for _, i := range items {
		failed = append(failed, Unsent{Kind: setAside[i.Kind], Attempts: i.Attempts, Since: i.Since, RetryAt: &i.RetryAt, Error: i.Error})
	}
	slices.SortStableFunc(failed, func(a, b Unsent) int { return cmp.Compare(b.Since, a.Since) })
	s.Failing = int64(min(len(failed), maxWaiting))
	s.Failures = failed[:min(len(failed), maxFailures)]
	return s, err
}

// Queue is the mail of all accounts.
type Queue struct {
	ServerStatus
	Waiting, GivenUp int64
	Oldest           *feedback.Time // when the oldest mail that was never tried was written; nil if there is none
}

// Queue returns how the mail server does, and how many mails of all accounts wait and were given up.
func (m *Mail) Queue(ctx context.Context) (q Queue, err error) {
	if q.ServerStatus, err = m.serverStatus(ctx); err != nil {
		return q, err
	}
	err = m.db.Reader().QueryRowContext(ctx, "SELECT COALESCE(SUM(CASE WHEN due_at < $1 THEN 1 ELSE 0 END), 0),"+
		" COALESCE(SUM(CASE WHEN due_at < $1 THEN 0 ELSE 1 END), 0) FROM mails m"+ofActive, never).Scan(&q.Waiting, &q.GivenUp)
	if err != nil {
		return q, err
	}
	var oldest feedback.ID
	err = m.db.Reader().QueryRowContext(ctx, "SELECT id FROM mails m"+ofActive+" WHERE attempts = 0 ORDER BY id LIMIT 1").Scan(&oldest)
	if err == nil {
		q.Oldest = new(oldest.Time())
	} else if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return q, err
}

// ofActive limits the mails m to those of accounts that are not suspended. Mails of the others wait.
const ofActive = " JOIN accounts a ON a.account_id = m.account_id AND a.suspended_at IS NULL"

// ServerStatus is how the mail server does.
type ServerStatus struct {
	State ServerState    `json:"state" enum:"ok,away,refused" doc:"away: it cannot be reached. refused: it refuses the login or the sender. Meanwhile mails wait."`
	Error *string        `json:"error" doc:"The server's last error; null if it works."`
	Since *feedback.Time `json:"since" format:"date-time" doc:"Since when it does not work; null if all is well."`
}

func (m *Mail) serverStatus(ctx context.Context) (s ServerStatus, err error) {
	server, err := m.server(ctx)
	if s.State = server.state; s.State != OK {
		s.Error, s.Since = &server.error, &server.since
	}
	return s, err
}
