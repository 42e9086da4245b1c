// Package quota stores how much an account may use: the limits that the operator sets for all accounts or for one. Each
// quota is checked where something is added; what is stored already stays, even if a quota is lower.
package quota

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Name says what a quota limits.
type Name string

// The quotas. Requests are counted by the month and mails by the day, in UTC.
const (
	Requests Name = "requests" // that people outside send
	Files    Name = "files"    // bytes of attached files
	Members  Name = "members"  // users of the account, with those who are invited
	Apps     Name = "apps"
	Webhooks Name = "webhooks"
	Mails    Name = "mails"    // to people outside
	Verified Name = "verified" // people who get mail without confirming, because an identity token verifies them
)

// None is the amount of a quota without a limit.
const None = math.MaxInt64

// What an account can have at most, whatever the operator sets. A list of apps has them all, and a search reads the
// words of each. Every change goes to all webhooks.
const (
	MaxApps     = 1000
	MaxWebhooks = 20
)

var highest = Limits{Apps: MaxApps, Webhooks: MaxWebhooks}

// Limits are amounts by quota.
type Limits map[Name]int64

// Defaults are the quotas for which the operator sets nothing.
var Defaults = Limits{
	Requests: None, Files: None, Members: None, Apps: MaxApps, Webhooks: MaxWebhooks, Mails: 5000, Verified: 100,
}

// Names returns the names of all quotas, in the order in which they are shown.
func Names() []Name { return []Name{Requests, Files, Members, Apps, Webhooks, Mails, Verified} }

// Changes are new amounts by quota. nil stands for the default.
type Changes map[Name]*int64

// Parse parses amounts such as requests=1000 and files=10GB. An amount may be none, or default.
func Parse(texts []string) (Changes, error) {
	changes := Changes{}
	for _, text := range texts {
		name, amount, found := strings.Cut(text, "=")
		quota := Name(strings.TrimSpace(name))
		_, known := Defaults[quota]
		_, again := changes[quota]
		switch {
		case !found:
			return nil, fmt.Errorf("%q must be a quota with its amount, such as requests=1000", text)
		case !known:
			return nil, fmt.Errorf("%q is not a quota; the quotas are %s", quota, list(Names()))
		case again:
			return nil, fmt.Errorf("the quota %s is there twice", quota)
		}
		most, err := parseAmount(quota, strings.TrimSpace(amount))
		if err != nil {
			return nil, err
		}
		changes[quota] = most
	}
	return changes, nil
}

func parseAmount(name Name, text string) (*int64, error) {
	most, capped := highest[name]
	switch {
	case text == "default":
		return nil, nil //nolint:nilnil // the default
	case text == "none" && !capped:
		return new(int64(None)), nil
	}
	if name == Files {
		n, err := humanize.ParseBytes(text)
		if err != nil || n > math.MaxInt64/2 {
			return nil, fmt.Errorf("the quota files must be a size such as 10GB, none or default, not %q", text)
		}
		return new(int64(n)), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case capped && (err != nil || n < 0 || n > most):
		return nil, fmt.Errorf("the quota %s must be a number from 0 to %d, or default, not %q", name, most, text)
	case err != nil || n < 0 || n == None:
		return nil, fmt.Errorf("the quota %s must be a number from 0, none or default, not %q", name, text)
	}
	return &n, nil
}

func list(names []Name) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}

// With returns the limits with changes. A default is that of Defaults.
func (l Limits) With(c Changes) Limits {
	l = maps.Clone(l)
	for name, most := range c {
		if most == nil {
			most = new(Defaults[name])
		}
		l[name] = *most
	}
	return l
}

// Format returns an amount as people write it, such as 10 GB or none.
func Format(name Name, amount int64) string {
	switch {
	case amount == None:
		return "none"
	case name == Files:
		return humanize.Bytes(uint64(max(amount, 0)))
	default:
		return strconv.FormatInt(amount, 10)
	}
}

// Quotas are the quotas of the accounts in a database.
type Quotas struct {
	db       *database.DB
	now      func() time.Time
	defaults Limits
}

// New returns the quotas in a database. defaults are those of accounts for which the operator has set no others.
func New(db *database.DB, now func() time.Time, defaults Limits) *Quotas {
	return &Quotas{db, now, defaults}
}

// Of returns a quota of an account, or None.
func (q *Quotas) Of(ctx context.Context, db database.Queryer, accountID feedback.ID, name Name) (int64, error) {
	all, err := q.OfAll(ctx, db, []feedback.ID{accountID}, name)
	if most, limited := all[accountID]; limited {
		return most, err
	}
	return None, err
}

// OfAll returns a quota of each of several accounts that have one.
func (q *Quotas) OfAll(ctx context.Context, db database.Queryer, accountIDs []feedback.ID, name Name) (map[feedback.ID]int64, error) {
	all := make(map[feedback.ID]int64, len(accountIDs))
	if most := q.defaults[name]; most != None {
		for _, id := range accountIDs {
			all[id] = most
		}
	}
	p := database.Parameters{string(name)}
	err := database.Each(ctx, db, func(r database.Row) error {
		var id feedback.ID
		var most *int64
		if err := r.Scan(&id, &most); err != nil {
			return err
		}
		delete(all, id)
		if most != nil {
			all[id] = *most
		}
		return nil
	}, "SELECT account_id, most FROM quotas WHERE name = $1 AND account_id IN ("+database.List(&p, database.Padded(accountIDs))+")", p...)
	return all, err
}

// Check returns refusal, with the header that says which quota it is, if n is more than a quota of an account allows.
func (q *Quotas) Check(
	ctx context.Context, db database.Queryer, accountID feedback.ID, name Name, n int64, refusal *feedback.Error,
) error {
	most, err := q.Of(ctx, db, accountID, name)
	if err == nil && n > most {
		return refusal.Spent(string(name), 0)
	}
	return err
}

// All returns all quotas of an account, and which of them the operator has set for it.
func (q *Quotas) All(ctx context.Context, accountID feedback.ID) (all Limits, own map[Name]bool, err error) {
	changes, err := q.own(ctx, q.db.Reader(), accountID)
	own = map[Name]bool{}
	for name := range changes {
		own[name] = true
	}
	return q.defaults.With(changes), own, err
}

// own returns the quotas that the operator has set for an account.
func (q *Quotas) own(ctx context.Context, db database.Queryer, accountID feedback.ID) (Changes, error) {
	type row struct {
		name Name
		most *int64
	}
	rows, err := database.All(ctx, db, func(r database.Row) (x row, err error) {
		return x, r.Scan((*string)(&x.name), &x.most)
	}, "SELECT name, most FROM quotas WHERE account_id = $1", accountID)
	own := Changes{}
	for _, x := range rows {
		if x.most == nil {
			x.most = new(int64(None))
		}
		own[x.name] = x.most
	}
	return own, err
}

// Set changes quotas of an account, as the operator.
func (q *Quotas) Set(ctx context.Context, accountID feedback.ID, changes Changes) error {
	if len(changes) == 0 {
		return nil
	}
	return q.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		own, err := q.own(ctx, tx, accountID)
		if err != nil {
			return err
		}
		before, after := map[string]any{}, map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(changes)) {
			was, is := own[name], changes[name]
			if was == is || was != nil && is != nil && *was == *is {
				continue
			}
			before[string(name)], after[string(name)] = fact(name, was), fact(name, is)
			if err := set(ctx, tx, accountID, name, is); err != nil {
				return err
			}
		}
		if len(after) == 0 {
			return nil
		}
		return changelog.Record(ctx, tx, accountID, feedback.At(q.now()), feedback.Change{
			Kind: feedback.QuotasChanged, Actor: feedback.Command(), Before: before, After: after,
		})
	})
}

func set(ctx context.Context, tx *sql.Tx, accountID feedback.ID, name Name, most *int64) error {
	if most == nil {
		_, err := tx.ExecContext(ctx, "DELETE FROM quotas WHERE account_id = $1 AND name = $2", accountID, string(name))
		return err
	}
	stored := most
	if *most == None {
		stored = nil
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO quotas (account_id, name, most) VALUES ($1, $2, $3)"+
		" ON CONFLICT (account_id, name) DO UPDATE SET most = excluded.most", accountID, string(name), stored)
	return err
}

// fact is an amount in the log of changes.
func fact(name Name, most *int64) string {
	if most == nil {
		return "default"
	}
	return Format(name, *most)
}

// Month returns the first day of the month of a time, and of the month after it.
func Month(now time.Time) (first, next feedback.Day) {
	year, month, _ := now.UTC().Date()
	begin := func(month time.Month) feedback.Day {
		return feedback.DayOf(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC))
	}
	return begin(month), begin(month + 1)
}
