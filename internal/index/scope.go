package index

import (
	"context"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Scope is what a filter covers at the moment: the apps, and the requests that match if the
// counters cannot tell. Pages, totals and facets are read from it.
type Scope struct {
	db         *database.DB
	accountID  feedback.ID
	filter     Filter
	live, dead []feedback.ID // the filter's apps, and deleted apps that still have rows
	filled     []feedback.ID // the live apps with requests that match by status and box
	n          int64         // requests that match by app, status and box; and by hidden, if found is nil
	rest       int64         // other requests of these apps, whatever their status and box
	found      *found        // nil if the filter has no other conditions, or only leaves out a few hidden requests
}

// Resolve reads what a filter covers. It refuses with ErrAppNotFound when the filter names
// an app that the account does not have. q must show one state of the database, or the
// caller must hold the gates of the apps.
func Resolve(ctx context.Context, db *database.DB, q database.Queryer, accountID feedback.ID, f Filter) (Scope, error) {
	s, err := resolveApps(ctx, q, accountID, f)
	s.db = db
	if err != nil || f.counted() || s.n == 0 {
		return s, err
	}
	if f.countedButHidden() {
		hidden, err := s.countHidden(ctx, q)
		if err != nil || hidden <= fewHidden {
			s.n -= hidden
			return s, err
		}
	}
	s.found, err = find(ctx, q, accountID, s.live, f)
	return s, err
}

// fewHidden is the maximum number of hidden requests that plain lists pass over.
const fewHidden = 256

// countHidden counts the hidden requests that match by app, status and box, up to fewHidden and one more.
func (s Scope) countHidden(ctx context.Context, q database.Queryer) (n int64, err error) {
	p := database.Parameters{s.accountID, string(s.filter.Box), fewHidden + 1}
	where := " AND app_id IN (" + database.List(&p, database.Padded(s.live)) + ")"
	if len(s.filter.Statuses) > 0 {
		where += " AND status IN (" + database.List(&p, s.filter.Statuses) + ")"
	}
	err = q.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM requests"+
		" WHERE account_id = $1 AND box = $2 AND hidden"+where+limited+") AS hidden", p...).Scan(&n)
	return n, err
}

// resolveApps is Resolve for the apps alone.
func resolveApps(ctx context.Context, q database.Queryer, accountID feedback.ID, f Filter) (Scope, error) {
	s := Scope{accountID: accountID, filter: f}
	apps, err := tally(ctx, q, accountID, f)
	if err != nil {
		return s, err
	}
	for _, app := range apps {
		if app.deleted {
			s.dead = append(s.dead, app.id)
			continue
		}
		s.live = append(s.live, app.id)
		if s.n, s.rest = s.n+app.n, s.rest+app.all-app.n; app.n > 0 {
			s.filled = append(s.filled, app.id)
		}
	}
	if f.AppID != nil && len(s.live) == 0 {
		return s, feedback.ErrAppNotFound
	}
	return s, nil
}

// Total returns how many requests match.
func (s Scope) Total() Total {
	if s.found == nil {
		return Total{s.n, true}
	}
	return s.found.total()
}

// appsOf returns the apps, not deleted, that a filter covers. It refuses like Resolve.
func appsOf(ctx context.Context, q database.Queryer, accountID feedback.ID, f Filter) ([]feedback.ID, error) {
	s, err := resolveApps(ctx, q, accountID, f)
	return s.live, err
}

// appTally is how many requests of one app a filter matches by status and box, and how many there are in all.
type appTally struct {
	id      feedback.ID
	deleted bool
	n, all  int64
}

// tally reads the counters. It includes deleted apps until the last of their rows is gone.
func tally(ctx context.Context, q database.Queryer, accountID feedback.ID, f Filter) ([]appTally, error) {
	p := database.Parameters{accountID, string(f.Box)}
	var matching, one string
	if len(f.Statuses) > 0 {
		matching = " AND c.status IN (" + database.List(&p, f.Statuses) + ")"
	}
	if f.AppID != nil {
		one = " AND a.id = " + p.Add(*f.AppID)
	}
	// These are subqueries, because PostgreSQL might compare the counters of all apps with each app for a join.
	const sum = "CAST(COALESCE((SELECT SUM(c.n) FROM request_counts c WHERE c.account_id = $1 AND c.app_id = a.id"
	query := "SELECT a.id, a.deleted_at IS NOT NULL, " + sum + " AND c.box = $2" + matching + "), 0) AS BIGINT), " +
		sum + "), 0) AS BIGINT) FROM apps a WHERE a.account_id = $1" + one + " ORDER BY a.id"
	return database.All(ctx, q, func(r database.Row) (t appTally, err error) {
		err = r.Scan(&t.id, &t.deleted, &t.n, &t.all)
		return t, err
	}, query, p...)
}
