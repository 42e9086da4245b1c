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

// postingsPerRequest bounds the count of a prefix: it is more words with one first letter
// than people write in a request.
const postingsPerRequest = 8

// countWords counts the requests that have the only word of a query, from the index alone.
// When requests have very many words with the prefix, it counts a part and is not exact.
func countWords(ctx context.Context, q database.Queryer, s Scope) (total Total, err error) {
	p, m := database.Parameters{s.accountID}, s.match
	most, read := max(maxDriven, postingsPerRequest*s.n), int64(0)
	err = q.QueryRowContext(ctx, "SELECT COUNT(*), CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM (SELECT id, COUNT(*) AS n FROM ("+
		"SELECT id FROM request_words WHERE account_id = $1 AND app_id IN ("+database.List(&p, padded(s.live))+")"+m.is(m.rarest, &p)+
		" LIMIT CAST("+p.Add(most+1)+" AS BIGINT)) AS part GROUP BY id) AS found", p...).Scan(&total.N, &read)
	total.Exact = read <= most
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
