package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Filter says which requests of an account a list holds. Links to exports store it as
// JSON without the fields that are not set, so that an older replica can read it unless
// it has a field that the replica does not know.
type Filter struct {
	AppID    *feedback.ID      `json:",omitempty"`
	Statuses []feedback.Status `json:",omitempty"` // empty means any
	Box      feedback.Box      `json:",omitempty"`

	Tag           string         `json:",omitempty"` // folded; "" means any
	AssigneeID    *feedback.ID   `json:",omitempty"`
	Unassigned    bool           `json:",omitempty"`
	Source        string         `json:",omitempty"` // "" means any
	CreatedAfter  *feedback.Time `json:",omitempty"` // from this time on
	CreatedBefore *feedback.Time `json:",omitempty"` // up to this time

	Query string `json:",omitempty"` // words that requests have, of those that are live; "" means any
}

// fromWidget is the source of most requests.
const fromWidget = "widget"

// counted reports whether the counters know how many requests match.
func (f Filter) counted() bool {
	return f.Query == "" && !f.beside()
}

// beside reports whether the filter picks by anything but app, status, box and words.
func (f Filter) beside() bool {
	return f.narrow() || f.Unassigned || f.Source != "" || f.CreatedAfter != nil || f.CreatedBefore != nil
}

// narrow reports whether the filter picks few requests, which have an index.
func (f Filter) narrow() bool {
	return f.Tag != "" || f.AssigneeID != nil || f.Source != "" && f.Source != fromWidget
}

// Sort is the order of a list.
type Sort string

// The orders. Requests with as many votes, or changed at the same time, are in the
// order of Newest.
const (
	Newest          Sort = "newest"
	Oldest          Sort = "oldest"
	MostVoted       Sort = "most_voted"
	RecentlyUpdated Sort = "recently_updated"
)

// Page says which part of a list is wanted: at most Limit rows beyond the row After;
// nil is the beginning.
type Page struct {
	Sort  Sort
	After *Place
	Limit int
	// Unchanged leaves out what was changed later: a request that loses a vote while
	// somebody turns the pages would come again.
	Unchanged *feedback.Time
}

// Place is what a row's place in a list is known by.
type Place struct {
	ID        feedback.ID
	Votes     int64
	UpdatedAt feedback.Time
}

// Total is how many requests a filter matches in all. Where the counters do not know,
// the rows are counted for a limited time; if that is not enough, it is the number
// of those that were counted, and not exact.
type Total struct {
	N     int64
	Exact bool
}

// List returns a page of the requests that the filter matches and how many it
// matches in all. It refuses with ErrAppNotFound when the filter names an app that
// the account does not have.
func (x *Index) List(ctx context.Context, accountID feedback.ID, f Filter, page Page) ([]feedback.Request, Total, error) {
	s, err := Resolve(ctx, x.db.Reader(), accountID, f)
	if err != nil {
		return nil, Total{}, err
	}
	total := Total{s.n, true}
	if !s.Empty() && !f.counted() {
		if total, err = x.countRows(ctx, s, time.Now().Add(countTime)); err != nil {
			return nil, total, err
		}
	}
	requests, err := s.Page(ctx, x.db.Reader(), page)
	return requests, total, err
}

// How long rows are counted, and how many at once.
const (
	countTime  = 250 * time.Millisecond
	countChunk = 20_000
)

// countRows counts the rows that match until the time is over. What one word picks is
// counted by its index.
func (x *Index) countRows(ctx context.Context, s Scope, end time.Time) (total Total, err error) {
	m, f := s.match, s.filter
	if m != nil && (!m.drives || m.n > maxDriven) && len(m.words) == 1 && len(f.Statuses) == 0 && !f.beside() {
		return countWords(ctx, x.db.Reader(), s)
	}
	total.Exact, err = x.inRanges(ctx, s, end, func(from, until *feedback.ID) error {
		n, err := x.countBetween(ctx, s, from, until)
		total.N += n
		return err
	})
	return total, err
}

// inRanges calls count for ranges of ids, from the newest requests on, so that it can
// stop when the time is over: then it reports false. What is few is counted at once.
func (x *Index) inRanges(ctx context.Context, s Scope, end time.Time, count func(from, until *feedback.ID) error) (exact bool, err error) {
	if m := s.match; m != nil && m.drives && m.n <= maxDriven {
		return true, count(nil, nil)
	}
	var until *feedback.ID
	for {
		from, err := x.chunkEnd(ctx, s.accountID, s.filter, until)
		if err != nil {
			return false, err
		}
		if err := count(from, until); err != nil || from == nil {
			return true, err
		}
		if time.Now().After(end) {
			return false, nil
		}
		until = from
	}
}

// chunkEnd is the id countChunk rows below another, nil when there are fewer: of those
// that have the filter's tag, else of those that lie in the box.
func (x *Index) chunkEnd(ctx context.Context, accountID feedback.ID, f Filter, until *feedback.ID) (*feedback.ID, error) {
	p := database.Parameters{accountID}
	below := func(id string) string {
		if until == nil {
			return ""
		}
		return " AND " + id + " < " + p.Add(*until)
	}
	var query string
	if f.Tag != "" {
		query = "SELECT request_id FROM request_tags" +
			" WHERE account_id = $1 AND tag = " + p.Add(f.Tag) + below("request_id") + " ORDER BY request_id DESC"
	} else {
		query = "SELECT id FROM requests WHERE account_id = $1 AND box = " + p.Add(string(f.Box))
		if f.AppID != nil {
			query += " AND app_id = " + p.Add(*f.AppID)
		}
		query += below("id") + " ORDER BY " + byID
	}
	var id feedback.ID
	err := x.db.Reader().QueryRowContext(ctx, query+fmt.Sprintf(" LIMIT 1 OFFSET %d", countChunk), p...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // the documented answer
	}
	return &id, err
}

// countBetween counts the rows that match from one id up to another; nil is no bound.
func (x *Index) countBetween(ctx context.Context, s Scope, from, until *feedback.ID) (n int64, err error) {
	rows, counted, p := between(s, from, until)
	err = x.db.Reader().QueryRowContext(ctx, "SELECT COUNT("+counted+")"+rows, p...).Scan(&n)
	return n, err
}

// between is where the rows come from that match, from one id up to another, and what of
// them is to be counted.
func between(s Scope, from, until *feedback.ID) (rows, counted string, p database.Parameters) {
	f := s.filter
	q := &pageQuery{Parameters: database.Parameters{s.accountID, string(f.Box)}, Scope: s}
	where, table, counted := q.conditions(), " FROM requests WHERE account_id = $1 AND box = $2", "*"
	if q.narrow() {
		narrowed, other := q.narrowed()
		where += narrowed
		if other != "" {
			// For a column that no index has, SQLite does not walk over all of one that has
			// the rest instead of looking each request up.
			table, counted = other, "title"
		}
	} else {
		if f.AppID != nil {
			where += " AND app_id = " + q.Add(*f.AppID)
		}
		if len(q.dead) > 0 {
			where += " AND app_id NOT IN (" + database.List(&q.Parameters, q.dead) + ")"
		}
		if len(f.Statuses) > 0 {
			where += " AND status IN (" + database.List(&q.Parameters, f.Statuses) + ")"
		}
	}
	if from != nil {
		where += " AND id >= " + q.Add(*from)
	}
	if until != nil {
		where += " AND id < " + q.Add(*until)
	}
	return table + where, counted, q.Parameters
}
