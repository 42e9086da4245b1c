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

// Filter says which requests of an account a list contains. Export links store it as JSON
// and omit the fields that are not set, so that an older replica can read it unless a field
// is set that the replica does not know.
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

	Query string `json:",omitempty"` // words of live requests; "" means any
}

// fromWidget is the source of most requests. The indexes by source leave it out.
const fromWidget = "widget"

// counted reports whether the counters know how many requests match.
func (f Filter) counted() bool {
	return f.Query == "" && !f.beside()
}

// beside reports whether the filter has conditions other than app, status, box and query.
func (f Filter) beside() bool {
	return f.narrow() || f.Unassigned || f.Source != "" || f.CreatedAfter != nil || f.CreatedBefore != nil
}

// narrow reports whether the filter has a condition that matches few requests and has an index.
func (f Filter) narrow() bool {
	return f.Tag != "" || f.AssigneeID != nil || f.Source != "" && f.Source != fromWidget
}

// Sort is the order of a list.
type Sort string

// The orders. Requests with equally many votes, and requests updated at the same time, are
// ordered as in Newest.
const (
	Newest          Sort = "newest"
	Oldest          Sort = "oldest"
	MostVoted       Sort = "most_voted"
	RecentlyUpdated Sort = "recently_updated"
)

// Page selects a part of a list: at most Limit rows after the row After, or from the
// beginning if After is nil.
type Page struct {
	Sort  Sort
	After *Place
	Limit int
	// Unchanged leaves out requests that were updated later. Otherwise a request that loses
	// a vote between two pages would appear on both.
	Unchanged *feedback.Time
}

// Place is the position of a row in a list, whatever its order.
type Place struct {
	ID        feedback.ID
	Votes     int64
	UpdatedAt feedback.Time
}

// Total is how many requests a filter matches. If the counters cannot tell, the rows are
// counted for a limited time; N is then the number counted so far, and Exact is false.
type Total struct {
	N     int64
	Exact bool
}

// List returns a page of the requests that the filter matches, and how many it matches in
// total. It refuses with ErrAppNotFound when the filter names an app that the account does
// not have.
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

// countTime bounds the time for counting, and countChunk is how many rows one statement counts.
const (
	countTime  = 250 * time.Millisecond
	countChunk = 20_000
)

// countRows counts the rows that match, until end. A query of one word that does not drive
// is counted from the index.
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

// inRanges calls count for one range of ids after the other, the newest first. It stops at
// end, and reports whether it covered all of them. A query that is driven by a word matches
// few requests, and is counted at once.
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

// chunkEnd returns the id that is countChunk rows before another, among the requests with
// the filter's tag or, without one, among those in its box; nil if there are fewer.
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
		return nil, nil //nolint:nilnil // documented: there are fewer
	}
	return &id, err
}

// countBetween counts the rows that match from one id up to another; nil means no bound.
func (x *Index) countBetween(ctx context.Context, s Scope, from, until *feedback.ID) (n int64, err error) {
	rows, counted, p := between(s, from, until)
	err = x.db.Reader().QueryRowContext(ctx, "SELECT COUNT("+counted+")"+rows, p...).Scan(&n)
	return n, err
}

// between returns the FROM and WHERE clauses that select the matching rows from one id up
// to another, and the column to count.
func between(s Scope, from, until *feedback.ID) (rows, counted string, p database.Parameters) {
	f := s.filter
	q := &pageQuery{Parameters: database.Parameters{s.accountID, string(f.Box)}, Scope: s}
	where, table, counted := q.conditions(), " FROM requests WHERE account_id = $1 AND box = $2", "*"
	if q.narrow() {
		narrowed, other := q.narrowed()
		where += narrowed
		if other != "" {
			// Counting a column that no index contains keeps SQLite from scanning a whole
			// covering index instead of looking up each request.
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
