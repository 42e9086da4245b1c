package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
	"gatherkit/internal/team"
)

// NewAccount is an account that an operator creates.
type NewAccount struct {
	Name  string
	Owner team.NewUser // who gets an invitation unless there is a password
	App   string       // the name of its first app, or "" for none
}

// CreatedAccount is an account that an operator has created.
type CreatedAccount struct {
	feedback.Account
	Owner      feedback.Member
	Invitation team.JoinLink // zero if the owner has a password
	App        feedback.App  // zero if it has none
}

// CreateAccounts creates accounts as the operator: all of them or, if it returns an error, none. With an error,
// created has those before the one that caused it. It returns team.ErrAccountExists if an account has the
// same name, and ErrEmailTaken if somebody else logs in with the e-mail of an owner who has a password.
func (s *Store) CreateAccounts(ctx context.Context, accounts []NewAccount) (created []CreatedAccount, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		created = nil
		for _, account := range accounts {
			one, err := s.createAccount(ctx, tx, account)
			if err != nil {
				return err
			}
			created = append(created, one)
		}
		return nil
	})
	return created, err
}

// createAccount creates an account. Nobody else knows it before the transaction ends, so the order of its locks
// does not matter.
func (s *Store) createAccount(ctx context.Context, tx *sql.Tx, n NewAccount) (c CreatedAccount, err error) {
	if c.Account, c.Owner, c.Invitation, err = s.Team.Create(ctx, tx, n.Name, n.Owner); err != nil || n.App == "" {
		return c, err
	}
	c.App, err = s.addApp(ctx, tx, c.ID, n.App, feedback.Command())
	return c, err
}

// AccountSize is an account with the numbers of what belongs to it.
type AccountSize struct {
	feedback.Account
	CreatedAt  feedback.Time `json:"created_at"`
	Users      int64         `json:"users"`
	Apps       int64         `json:"apps"`
	Requests   int64         `json:"requests"` // also in the bin and in quarantine
	Files      int64         `json:"files"`
	FileBytes  int64         `json:"file_bytes"`
	Calls      int64         `json:"calls"`        // in the last 30 days
	Seconds    float64       `json:"call_seconds"` // how long these calls took
	Mails      int64         `json:"mails"`        // in the last 30 days
	LastChange feedback.Time `json:"last_change"`  // the time of the latest entry in the log of changes
	// LastUse is the time of the latest call or mail in the last 400 days, or nil if there was none.
	LastUse *feedback.Time `json:"last_use"`
	// SuspendedAt is when the operator has suspended the account, or nil.
	SuspendedAt *feedback.Time `json:"suspended_at"`
}

// usedDays are the days whose calls and mails an AccountSize has.
const usedDays = 30

// AccountSizes returns all accounts with their sizes, oldest first, for the operator. It reads all users, apps,
// counters, files and days of usage.
func (s *Store) AccountSizes(ctx context.Context) ([]AccountSize, error) {
	return database.All(ctx, s.db.Reader(), scanAccountSize, fmt.Sprintf(accountSizes, ""), feedback.DayOf(s.now())-usedDays)
}

// AccountSize returns an account with its sizes, for the operator. It reads the users, apps, counters, files
// and days of usage of the account.
func (s *Store) AccountSize(ctx context.Context, accountID feedback.ID) (AccountSize, error) {
	return scanAccountSize(s.db.Reader().QueryRowContext(ctx, fmt.Sprintf(accountSizes, "AND account_id = $2"),
		feedback.DayOf(s.now())-usedDays, accountID))
}

// accountSizes selects accounts. %s is the place of a condition.
const accountSizes = `SELECT a.account_id, a.name, a.created_at, COALESCE(u.n, 0), COALESCE(p.n, 0), COALESCE(c.n, 0),
	COALESCE(f.n, 0), COALESCE(f.bytes, 0), COALESCE(d.calls, 0), COALESCE(d.busy_us, 0), COALESCE(d.mails, 0),
	COALESCE(l.at, a.created_at), d.last_at, a.suspended_at
	FROM (SELECT account_id, name, created_at, suspended_at FROM accounts WHERE TRUE %[1]s) a
	LEFT JOIN (SELECT account_id, COUNT(*) AS n FROM users WHERE TRUE %[1]s GROUP BY account_id) u ON u.account_id = a.account_id
	LEFT JOIN (SELECT account_id, COUNT(*) AS n FROM apps WHERE deleted_at IS NULL %[1]s GROUP BY account_id) p
		ON p.account_id = a.account_id
	LEFT JOIN (SELECT account_id, CAST(SUM(n) AS BIGINT) AS n FROM request_counts WHERE TRUE %[1]s GROUP BY account_id) c
		ON c.account_id = a.account_id
	LEFT JOIN (SELECT account_id, COUNT(*) AS n, CAST(SUM(size) AS BIGINT) AS bytes FROM uploads WHERE request_id IS NOT NULL %[1]s
		GROUP BY account_id) f ON f.account_id = a.account_id
	LEFT JOIN (SELECT account_id, MAX(last_at) AS last_at, CAST(SUM(CASE WHEN day > $1 THEN calls ELSE 0 END) AS BIGINT) AS calls,
		CAST(SUM(CASE WHEN day > $1 THEN busy_us ELSE 0 END) AS BIGINT) AS busy_us,
		CAST(SUM(CASE WHEN day > $1 THEN mails ELSE 0 END) AS BIGINT) AS mails
		FROM usage_days WHERE TRUE %[1]s GROUP BY account_id) d ON d.account_id = a.account_id
	LEFT JOIN account_seq s ON s.account_id = a.account_id
	LEFT JOIN changes l ON l.account_id = s.account_id AND l.seq = s.last
	ORDER BY a.account_id`

func scanAccountSize(r database.Row) (a AccountSize, err error) {
	var busy int64
	err = r.Scan(&a.ID, &a.Name, &a.CreatedAt, &a.Users, &a.Apps, &a.Requests, &a.Files, &a.FileBytes, &a.Calls, &busy, &a.Mails,
		&a.LastChange, &a.LastUse, &a.SuspendedAt)
	a.Seconds = (time.Duration(busy) * time.Microsecond).Seconds()
	return a, err
}

// ErrNotSuspended says that an account is not suspended, or not yet for long enough that all calls and background work
// in progress have ended.
var ErrNotSuspended = errors.New("the account is not suspended")

// SuspendedFor is how long an account is suspended before it can be deleted.
const SuspendedFor = time.Minute

// DeleteAccount deletes an account with all its rows and files, as the operator, and returns how many there were. It
// returns ErrNotSuspended unless the account has been suspended for SuspendedFor. removeFile removes the content of a
// file. If DeleteAccount ends with an error, a further call deletes the rest.
func (s *Store) DeleteAccount(
	ctx context.Context, accountID feedback.ID, removeFile func(context.Context, feedback.ID) error,
) (rows, files int64, err error) {
	var since *feedback.Time
	err = s.db.Reader().QueryRowContext(ctx, "SELECT suspended_at FROM accounts WHERE account_id = $1", accountID).Scan(&since)
	if err != nil {
		return 0, 0, err
	}
	if since == nil {
		return 0, 0, ErrNotSuspended
	}
	if wait := SuspendedFor - s.now().Sub(since.Std()); wait > 0 {
		return 0, 0, fmt.Errorf("%w long enough; try again in %.0f seconds", ErrNotSuspended, math.Ceil(wait.Seconds()))
	}
	if files, err = s.removeFiles(ctx, accountID, removeFile); err != nil {
		return 0, files, err
	}
	if rows, err = s.deleteAllRows(ctx, accountID); err != nil {
		return rows, files, err
	}
	return rows + 1, files, s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM accounts WHERE account_id = $1", accountID)
		return err
	})
}

// deleteAllRows deletes all rows of an account but the one in accounts, and returns how many there were.
func (s *Store) deleteAllRows(ctx context.Context, accountID feedback.ID) (rows int64, err error) {
	tables, err := s.accountTables(ctx)
	if err != nil {
		return 0, err
	}
	// It ends with a pass that finds no rows: background work that had begun may add some to a table that was empty.
	for found := true; found; {
		found = false
		for _, table := range tables {
			n, err := s.deleteRows(ctx, accountID, table)
			if rows += n; err != nil {
				return rows, err
			}
			found = found || n > 0
		}
	}
	return rows, nil
}

// removeFiles removes the contents of an account's files, and returns how many there were.
func (s *Store) removeFiles(
	ctx context.Context, accountID feedback.ID, remove func(context.Context, feedback.ID) error,
) (n int64, err error) {
	for after := (feedback.ID{}); ; {
		ids, err := database.All(ctx, s.db.Reader(), database.One[feedback.ID],
			"SELECT id FROM uploads WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT $3", accountID, after, sweep.Chunk)
		if err != nil || len(ids) == 0 {
			return n, err
		}
		for _, id := range ids {
			if err := remove(ctx, id); err != nil {
				return n, err
			}
			after = id
			n++
		}
	}
}

// accountTables returns all tables with rows of accounts but accounts itself. The log is first: background work finds
// an account by it.
func (s *Store) accountTables(ctx context.Context) ([]database.Table, error) {
	tables, err := s.db.Tables(ctx)
	if err != nil {
		return nil, err
	}
	tables = slices.DeleteFunc(tables, func(t database.Table) bool {
		return t.Name == "accounts" || !slices.Contains(t.Columns, "account_id")
	})
	first := func(t database.Table) int {
		if t.Name == "account_seq" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(tables, func(a, b database.Table) int { return first(a) - first(b) })
	return tables, nil
}

// deleteRows deletes some rows of an account in a table, and returns how many.
func (s *Store) deleteRows(ctx context.Context, accountID feedback.ID, t database.Table) (rows int64, err error) {
	key := strings.Join(t.Key, ", ")
	statement := fmt.Sprintf("DELETE FROM %[1]s WHERE account_id = $1 AND (%[2]s) IN"+
		" (SELECT %[2]s FROM %[1]s WHERE account_id = $1 LIMIT CAST($2 AS BIGINT))", t.Name, key)
	return rows, s.db.WritePart(ctx, accountID, func(ctx context.Context, tx *sql.Tx) (err error) {
		rows, err = database.Changed(ctx, tx, statement, accountID, s.db.PartRows())
		return err
	})
}
