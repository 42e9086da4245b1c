package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// Filter says which requests of an account a list holds.
type Filter struct {
	AppID    *feedback.ID
	Statuses []feedback.Status // empty means any
	Box      feedback.Box

	Tag                         string // folded; "" means any
	AssigneeID                  *feedback.ID
	Unassigned                  bool
	Source                      string         // "" means any
	CreatedAfter, CreatedBefore *feedback.Time // from the one on, up to the other

	Query string // words that requests have, of those that are live; "" means any
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

// Requests returns a page of the requests that the filter matches and how many it
// matches in all. It refuses with ErrAppNotFound when the filter names an app that
// the account does not have.
func (s *Store) Requests(ctx context.Context, accountID feedback.ID, f Filter, page Page) ([]feedback.Request, Total, error) {
	reach, err := reachOf(ctx, s.reader, accountID, f)
	if err != nil {
		return nil, Total{}, err
	}
	total := Total{reach.n, true}
	if total.N == 0 {
		return []feedback.Request{}, total, nil
	}
	if !f.counted() {
		if total, err = s.countRows(ctx, accountID, f, reach); err != nil {
			return nil, total, err
		}
	}
	requests, err := newPageQuery(accountID, f, page, reach).rows(ctx, s.reader)
	return requests, total, err
}

// How long rows are counted, and how many at once.
const (
	countTime  = 250 * time.Millisecond
	countChunk = 20_000
)

// countRows counts the rows that match, from the newest on and in pieces, so that it
// can stop when the time is over. What is few is counted at once, and what one word
// picks by its index.
func (s *Store) countRows(ctx context.Context, accountID feedback.ID, f Filter, reach reach) (Total, error) {
	if m := reach.match; m != nil {
		switch {
		case m.leads && m.n <= maxLed:
			n, err := s.countBetween(ctx, accountID, f, reach, nil, nil)
			return Total{n, true}, err
		case len(m.words) == 1 && len(f.Statuses) == 0 && !f.beside():
			n, err := countWords(ctx, s.reader, accountID, m, reach.live)
			return Total{n, true}, err
		}
	}
	began := time.Now()
	total := Total{Exact: true}
	var until *feedback.ID
	for {
		from, err := s.chunkEnd(ctx, accountID, f, until)
		if err != nil {
			return Total{}, err
		}
		n, err := s.countBetween(ctx, accountID, f, reach, from, until)
		total.N += n
		if err != nil || from == nil {
			return total, err
		}
		if time.Since(began) > countTime {
			total.Exact = false
			return total, nil
		}
		until = from
	}
}

// chunkEnd is the id countChunk rows below another, nil when there are fewer: of those
// that have the filter's tag, else of those that lie in the box.
func (s *Store) chunkEnd(ctx context.Context, accountID feedback.ID, f Filter, until *feedback.ID) (*feedback.ID, error) {
	p := parameters{accountID}
	below := func(id string) string {
		if until == nil {
			return ""
		}
		return " AND " + id + " < " + p.add(*until)
	}
	var query string
	if f.Tag != "" {
		query = "SELECT request_id FROM request_tags WHERE account_id = $1 AND tag = " + p.add(f.Tag) + below("request_id") + " ORDER BY request_id DESC"
	} else {
		query = "SELECT id FROM requests WHERE account_id = $1 AND box = " + p.add(string(f.Box))
		if f.AppID != nil {
			query += " AND app_id = " + p.add(*f.AppID)
		}
		query += below("id") + " ORDER BY " + byID
	}
	var id feedback.ID
	err := s.reader.QueryRowContext(ctx, query+fmt.Sprintf(" LIMIT 1 OFFSET %d", countChunk), p...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // the documented answer
	}
	return &id, err
}

// countBetween counts the rows that match from one id up to another; nil is no bound.
func (s *Store) countBetween(ctx context.Context, accountID feedback.ID, f Filter, reach reach, from, until *feedback.ID) (n int64, err error) {
	q := &pageQuery{parameters: parameters{accountID, string(f.Box)}, reach: reach, filter: f}
	where, table := q.conditions(), "*) FROM requests WHERE account_id = $1 AND box = $2"
	if q.narrow() {
		narrowed, other := q.narrowed()
		where += narrowed
		if other != "" {
			// No index has the title. In one that has all that is asked for, SQLite would
			// walk over the whole account for each of the rows.
			table = "title)" + other
		}
	} else {
		if f.AppID != nil {
			where += " AND app_id = " + q.add(*f.AppID)
		}
		if len(q.dead) > 0 {
			where += " AND app_id NOT IN (" + list(&q.parameters, q.dead) + ")"
		}
		if len(f.Statuses) > 0 {
			where += " AND status IN (" + list(&q.parameters, f.Statuses) + ")"
		}
	}
	if from != nil {
		where += " AND id >= " + q.add(*from)
	}
	if until != nil {
		where += " AND id < " + q.add(*until)
	}
	err = s.reader.QueryRowContext(ctx, "SELECT COUNT("+table+where, q.parameters...).Scan(&n)
	return n, err
}

// appTally is how many requests of one app a filter matches.
type appTally struct {
	id      feedback.ID
	deleted bool
	n       int64
}

// tally reads the counters. Deleted apps are among the answers as long as rows of
// theirs may be around.
func tally(ctx context.Context, q queryer, accountID feedback.ID, f Filter) ([]appTally, error) {
	p := parameters{accountID, string(f.Box)}
	var b strings.Builder
	b.WriteString(`SELECT a.id, a.deleted_at IS NOT NULL, CAST(COALESCE(SUM(c.n), 0) AS BIGINT) FROM apps a
		LEFT JOIN request_counts c ON c.account_id = a.account_id AND c.app_id = a.id AND c.box = $2`)
	if len(f.Statuses) > 0 {
		b.WriteString(" AND c.status IN (" + list(&p, f.Statuses) + ")")
	}
	b.WriteString(" WHERE a.account_id = $1")
	if f.AppID != nil {
		b.WriteString(" AND a.id = " + p.add(*f.AppID))
	}
	b.WriteString(" GROUP BY a.id, a.deleted_at")
	return all(ctx, q, func(r row) (t appTally, err error) {
		err = r.Scan(&t.id, &t.deleted, &t.n)
		return t, err
	}, b.String(), p...)
}
