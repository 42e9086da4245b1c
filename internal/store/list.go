package store

import (
	"context"
	"slices"
	"strings"

	"gatherkit/internal/feedback"
)

// Filter says which requests of an account a list holds.
type Filter struct {
	AppID    *feedback.ID
	Statuses []feedback.Status // empty means any
	Box      feedback.Box
}

// Page says which part of a list is wanted: at most Limit rows beyond the id After
// (nil is the beginning), newest or oldest first.
type Page struct {
	After  *feedback.ID
	Oldest bool
	Limit  int
}

// maxBranches is how many index ranges one page is merged from at the most.
const maxBranches = 64

// Requests returns a page of the requests that the filter matches and how many it
// matches in all. It refuses with ErrAppNotFound when the filter names an app that
// the account does not have.
func (s *Store) Requests(ctx context.Context, accountID feedback.ID, f Filter, page Page) ([]feedback.Request, int64, error) {
	apps, err := s.tally(ctx, accountID, f)
	if err != nil {
		return nil, 0, err
	}
	var live, dead []feedback.ID
	var total int64
	for _, app := range apps {
		if app.deleted {
			dead = append(dead, app.id)
		} else {
			live = append(live, app.id)
			total += app.n
		}
	}
	if f.AppID != nil && len(live) == 0 {
		return nil, 0, feedback.ErrAppNotFound
	}
	if total == 0 {
		return []feedback.Request{}, 0, nil
	}
	query, args := pageQuery(accountID, f, page, live, dead)
	requests, err := all(ctx, s.reader, scanRequest, query, args...)
	return requests, total, err
}

// appTally is how many requests of one app a filter matches.
type appTally struct {
	id      feedback.ID
	deleted bool
	n       int64
}

// tally reads the counters. Deleted apps are among the answers as long as rows of
// theirs may be around.
func (s *Store) tally(ctx context.Context, accountID feedback.ID, f Filter) ([]appTally, error) {
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
	return all(ctx, s.reader, func(r row) (t appTally, err error) {
		err = r.Scan(&t.id, &t.deleted, &t.n)
		return t, err
	}, b.String(), p...)
}

// pageQuery merges a page from ranges of an index that are each in the order of
// ids: one range for each status that is asked for, and one for each live app
// while a deleted one is being purged, whose rows would otherwise have to be
// walked over.
func pageQuery(accountID feedback.ID, f Filter, page Page, live, dead []feedback.ID) (string, []any) {
	p := parameters{accountID, string(f.Box), page.Limit}
	// Ids are never null. But said like this only the lists' own indexes have the
	// order: PostgreSQL might walk the primary key over all that the filter leaves out.
	order, compare := "DESC NULLS LAST", "<"
	if page.Oldest {
		order, compare = "ASC NULLS FIRST", ">"
	}
	// SQLite would prepare the statement again for each value of a bare parameter here,
	// to plan for it.
	const limit = " LIMIT CAST($3 AS BIGINT)"
	rest := ""
	if page.After != nil {
		rest = " AND id " + compare + " " + p.add(*page.After)
	}
	apps := []string{""}
	switch {
	case f.AppID != nil:
		apps[0] = " AND app_id = " + p.add(*f.AppID)
	case len(dead) > 0 && len(live)*max(1, len(f.Statuses)) <= maxBranches:
		apps = apps[:0]
		for _, id := range live {
			apps = append(apps, " AND app_id = "+p.add(id))
		}
	case len(dead) > 0:
		rest += " AND app_id NOT IN (" + list(&p, dead) + ")"
	}
	statuses := []string{""}
	if len(f.Statuses) > 0 {
		statuses = statuses[:0]
		for _, status := range slices.Compact(slices.Sorted(slices.Values(f.Statuses))) {
			statuses = append(statuses, " AND status = "+p.add(string(status)))
		}
	}
	tail := rest + " ORDER BY id " + order + limit
	var ranges []string
	for _, app := range apps {
		for _, status := range statuses {
			ranges = append(ranges, "SELECT "+requestColumns+" FROM requests WHERE account_id = $1 AND box = $2"+app+status+tail)
		}
	}
	if len(ranges) == 1 {
		return ranges[0], p
	}
	return "SELECT * FROM (SELECT * FROM (" + strings.Join(ranges, ") AS part UNION ALL SELECT * FROM (") + ") AS part) AS page ORDER BY id " + order + limit, p
}
