package index

import (
	"context"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/row"
)

// A page is merged from index ranges in the order of ids, so that it costs no more than its own rows. Each app has a range
// for each status in the filter, or without one, a range of open requests and one of all others. If the account has few
// other requests, the primary key is read instead. For the orders by votes, by heat and by change, a partial index has the
// requests that are out of place, and the others are in the order of their ids.

// listing is a page that is read from the requests alone.
type listing struct {
	Scope
	page Page
}

// pageQuery builds one statement of a page.
type pageQuery struct {
	database.Parameters
	listing
	common string // conditions of every range
}

func (l listing) query() *pageQuery {
	q := &pageQuery{Parameters: database.Parameters{l.accountID, string(l.filter.Box), l.page.Limit}, listing: l}
	if l.page.Unchanged != nil {
		q.common = " AND updated_at <= " + q.Add(*l.page.Unchanged)
	}
	if l.filter.Hidden != nil {
		q.common += " AND NOT COALESCE(hidden, hidden)" // so that the planner does not expect most to be hidden
	}
	return q
}

// The orders. Ids are never null, but with NULLS only the indexes of lists have the order:
// otherwise PostgreSQL might walk the primary key past everything that the filter leaves out.
const (
	byID      = "id DESC NULLS LAST"
	byIDUp    = "id ASC NULLS FIRST"
	byVotes   = "votes DESC, id DESC NULLS LAST"
	byHeat    = "heat DESC, id DESC NULLS LAST"
	byUpdated = "updated_at DESC, id DESC NULLS LAST"
)

const (
	// maxBranches is the maximum number of ranges that one statement merges.
	maxBranches = 64
	// maxPassed is the maximum number of other requests that a list in the primary key passes over.
	maxPassed = 256
)

// limited ends a statement or a range. Without the CAST, SQLite would prepare the statement again for each value of the
// parameter.
const limited = " LIMIT CAST($3 AS BIGINT)"

// rows reads the page.
func (l listing) rows(ctx context.Context, from database.Queryer) ([]feedback.Request, error) {
	switch l.page.Sort {
	case MostVoted:
		rows := []feedback.Request{}
		for _, part := range []func(listing, context.Context, database.Queryer) ([]feedback.Request, error){
			listing.severalVotes, listing.oneVote, listing.noVote,
		} {
			if len(rows) >= l.page.Limit {
				break
			}
			more, err := part(l, ctx, from)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		}
		return rows[:min(len(rows), l.page.Limit)], nil
	case Trending:
		return l.trending(ctx, from)
	case RecentlyUpdated:
		return l.recentlyUpdated(ctx, from)
	}
	return l.inOrder(ctx, from, l.page.Sort, (*pageQuery).beyond)
}

func (q *pageQuery) run(ctx context.Context, from database.Queryer, statement string) ([]feedback.Request, error) {
	scan := row.Scan
	if q.page.Brief {
		scan = scanBrief
	}
	return database.All(ctx, from, scan, statement, q.Parameters...)
}

// inOrder reads requests in the order of ids, Newest or Oldest. where returns a further condition.
func (l listing) inOrder(
	ctx context.Context, from database.Queryer, sort Sort, where func(*pageQuery) string,
) ([]feedback.Request, error) {
	order, key := byID, "id DESC"
	if sort == Oldest {
		order, key = byIDUp, "id"
	}
	one := func(condition, order string) ([]feedback.Request, error) {
		q := l.query()
		return q.run(ctx, from, q.one(where(q)+condition+q.others(), order))
	}
	allApps := l.filter.AppID == nil && len(l.dead) == 0
	switch {
	case allApps && l.rest <= maxPassed:
		return one("", key)
	case allApps && len(l.filter.Statuses) == 0 && l.filter.Box != feedback.Live:
		return one(notLive, order)
	}
	rows := []feedback.Request{}
	for ranges := range slices.Chunk(l.ranges(), maxBranches) {
		q := l.query()
		condition := where(q)
		selects := make([]string, len(ranges))
		for i, r := range ranges {
			selects[i] = q.selected(r.condition(&q.Parameters) + condition)
		}
		some, err := q.run(ctx, from, l.db.Merged(selects, order, limited))
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	slices.SortFunc(rows, func(a, b feedback.Request) int { return sort.compare(placeOf(a), placeOf(b)) })
	return rows[:min(len(rows), l.page.Limit)], nil
}

// The conditions of requests_triaged and of requests_aside, the index of requests in the bin and in quarantine.
const (
	notOpened = " AND COALESCE(status, status) <> 'opened'"
	notLive   = " AND COALESCE(box, box) <> 'live'"
)

// idRange has requests of an app in the order of their ids: those with a status, or without one, all that are not open.
type idRange struct {
	appID  feedback.ID
	status feedback.Status
}

// ranges returns the ranges that have the requests.
func (s Scope) ranges() (ranges []idRange) {
	statuses := []feedback.Status{feedback.Opened, ""}
	if len(s.filter.Statuses) > 0 {
		statuses = slices.Compact(slices.Sorted(slices.Values(s.filter.Statuses)))
	}
	for _, id := range s.filled {
		for _, status := range statuses {
			ranges = append(ranges, idRange{id, status})
		}
	}
	return ranges
}

// condition selects the range.
func (r idRange) condition(p *database.Parameters) string {
	where := " AND app_id = " + p.Add(r.appID)
	if r.status == "" {
		return where + notOpened
	}
	return where + " AND status = " + p.Add(string(r.status))
}

// one returns a statement for the first requests that match a condition.
func (q *pageQuery) one(where, order string) string {
	return q.selected(where) + " ORDER BY " + order + limited
}

// selected returns a SELECT of the requests that match a condition.
func (q *pageQuery) selected(where string) string {
	columns := row.Columns
	if q.page.Brief {
		columns = briefColumns
	}
	return "SELECT " + columns + " FROM requests WHERE account_id = $1 AND box = $2" + where + q.common
}

// beyond is the condition for rows after the last one of the previous page.
func (q *pageQuery) beyond() string {
	after := q.page.After
	if after == nil {
		return ""
	}
	switch q.page.Sort {
	case MostVoted:
		return " AND (votes, id) < (" + q.Add(after.Votes) + ", " + q.Add(after.ID) + ")"
	case Trending:
		return " AND (heat, id) < (" + q.Add(after.Heat) + ", " + q.Add(after.ID) + ")"
	case RecentlyUpdated:
		return " AND (updated_at, id) < (" + q.Add(after.UpdatedAt) + ", " + q.Add(after.ID) + ")"
	case Oldest:
		return " AND id > " + q.Add(after.ID)
	}
	return " AND id < " + q.Add(after.ID)
}

// severalVotes reads the requests with more than one vote, and noVote those with none,
// both by a partial index; oneVote reads the others, which are most, in the order of ids.
// Each returns none if all of its rows are before the page.
func (l listing) severalVotes(ctx context.Context, from database.Queryer) ([]feedback.Request, error) {
	if after := l.page.After; after != nil && after.Votes <= 1 {
		return nil, nil
	}
	q := l.query()
	return q.run(ctx, from, q.one(" AND votes <> 1 AND votes > 1"+q.beyond()+q.app()+q.others(), byVotes))
}

func (l listing) oneVote(ctx context.Context, from database.Queryer) ([]feedback.Request, error) {
	after := l.page.After
	if after != nil && after.Votes < 1 {
		return nil, nil
	}
	return l.inOrder(ctx, from, Newest, func(q *pageQuery) string {
		if after != nil && after.Votes == 1 {
			return " AND votes = 1 AND id < " + q.Add(after.ID)
		}
		return " AND votes = 1"
	})
}

func (l listing) noVote(ctx context.Context, from database.Queryer) ([]feedback.Request, error) {
	q := l.query()
	where := " AND votes <> 1 AND votes = 0"
	if after := l.page.After; after != nil && after.Votes == 0 {
		where += " AND id < " + q.Add(after.ID)
	}
	return q.run(ctx, from, q.one(where+q.app()+q.others(), byID))
}

// trending reads the page in the order of Trending: the requests with heat by a partial index, which has a range
// for each app, and then the others, which are most, in the order of ids.
func (l listing) trending(ctx context.Context, from database.Queryer) ([]feedback.Request, error) {
	rows, after := []feedback.Request{}, l.page.After
	if after == nil || after.Heat != 0 {
		for apps := range slices.Chunk(l.filled, maxBranches) {
			q := l.query()
			where := " AND heat <> 0" + q.beyond() + q.others()
			selects := make([]string, len(apps))
			for i, id := range apps {
				selects[i] = q.selected(where + " AND app_id = " + q.Add(id))
			}
			some, err := q.run(ctx, from, l.db.Merged(selects, byHeat, limited))
			if err != nil {
				return nil, err
			}
			rows = append(rows, some...)
		}
		slices.SortFunc(rows, l.page.compare)
	}
	if len(rows) < l.page.Limit {
		others, err := l.inOrder(ctx, from, Newest, func(q *pageQuery) string {
			if after != nil && after.Heat == 0 {
				return " AND heat = 0 AND id < " + q.Add(after.ID)
			}
			return " AND heat = 0"
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, others...)
	}
	return rows[:min(len(rows), l.page.Limit)], nil
}

// recentlyUpdated reads the requests that were ever changed, by a partial index, and the others, whose ids have the time
// of their only update. Requests older than the update of the last changed request on the page are not on it, and reading
// them could mean walking past many changed ones.
func (l listing) recentlyUpdated(ctx context.Context, from database.Queryer) ([]feedback.Request, error) {
	q := l.query()
	rows, err := q.run(ctx, from, q.one(" AND version > 1"+q.beyond()+q.app()+q.others(), byUpdated))
	if err != nil {
		return nil, err
	}
	var since *feedback.Time
	if len(rows) == l.page.Limit {
		since = &rows[len(rows)-1].UpdatedAt
	}
	others, err := l.inOrder(ctx, from, Newest, func(q *pageQuery) string {
		where := " AND version = 1"
		if since != nil {
			where += " AND id >= " + q.Add(feedback.FirstIDAt(since.Std()))
		}
		if after := q.page.After; after != nil {
			where += " AND id < " + q.Add(feedback.FirstIDAt(after.UpdatedAt.Std().Add(time.Millisecond))) + q.beyond()
		}
		return where
	})
	rows = append(rows, others...)
	slices.SortFunc(rows, l.page.compare)
	return rows[:min(len(rows), l.page.Limit)], err
}

// app is the condition for the filter's app.
func (q *pageQuery) app() string {
	if q.filter.AppID == nil {
		return ""
	}
	return " AND app_id = " + q.Add(*q.filter.AppID)
}

// others are the filter's other conditions, written so that no index is chosen by them.
func (q *pageQuery) others() string {
	var b strings.Builder
	if len(q.dead) > 0 {
		b.WriteString(" AND app_id NOT IN (" + database.List(&q.Parameters, q.dead) + ")")
	}
	if len(q.filter.Statuses) > 0 {
		b.WriteString(" AND COALESCE(status, status) IN (" + database.List(&q.Parameters, q.filter.Statuses) + ")")
	}
	return b.String()
}
