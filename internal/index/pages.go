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

// A page is merged in SQL from index ranges, each in the order of ids, so that a page costs
// no more than its own rows: one range per status in the filter, and one per live app while
// a deleted app is being purged. For the orders by votes, by heat and by change, a partial
// index has the requests that are out of place, and the others are in the order of their ids.

// pageQuery builds the statements of one page.
type pageQuery struct {
	database.Parameters
	Scope
	page   Page
	common string // conditions of every range
}

func newPageQuery(s Scope, page Page) *pageQuery {
	q := &pageQuery{Parameters: database.Parameters{s.accountID, string(s.filter.Box), page.Limit}, Scope: s, page: page}
	if page.Unchanged != nil {
		q.common = " AND updated_at <= " + q.Add(*page.Unchanged)
	}
	if s.filter.Hidden != nil {
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

// maxBranches is the maximum number of ranges that one page is merged from.
const maxBranches = 64

// order returns the ORDER BY of the page.
func (q *pageQuery) order() string {
	return map[Sort]string{Newest: byID, Oldest: byIDUp, MostVoted: byVotes, RecentlyUpdated: byUpdated}[q.page.Sort]
}

// merged returns a statement that merges ranges of the same order.
func merged(ranges []string, order string) string {
	if len(ranges) == 1 {
		return ranges[0]
	}
	return "SELECT * FROM (SELECT * FROM (" + strings.Join(ranges, ") AS part UNION ALL SELECT * FROM (") +
		") AS part) AS page ORDER BY " + order + limited
}

// rows reads the page.
func (q *pageQuery) rows(ctx context.Context, from database.Queryer) ([]feedback.Request, error) {
	switch q.page.Sort {
	case MostVoted:
		rows := []feedback.Request{}
		for _, part := range []func(*pageQuery) string{(*pageQuery).severalVotes, (*pageQuery).oneVote, (*pageQuery).noVote} {
			q := q.again()
			statement := part(q)
			if len(rows) >= q.page.Limit || statement == "" {
				continue
			}
			more, err := q.run(ctx, from, statement)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		}
		return rows[:min(len(rows), q.page.Limit)], nil
	case Trending:
		return q.trendingRows(ctx, from)
	case RecentlyUpdated:
		rows, err := q.run(ctx, from, q.changedRows())
		if err != nil {
			return nil, err
		}
		var since *feedback.Time
		if len(rows) == q.page.Limit {
			since = &rows[len(rows)-1].UpdatedAt
		}
		q := q.again()
		others, err := q.run(ctx, from, q.unchangedRows(since))
		rows = append(rows, others...)
		slices.SortFunc(rows, q.page.compare)
		return rows[:min(len(rows), q.page.Limit)], err
	}
	return q.run(ctx, from, merged(q.ranges(q.beyond(), q.order()), q.order()))
}

// again returns a query of the same page, because each statement has its own parameters.
func (q *pageQuery) again() *pageQuery { return newPageQuery(q.Scope, q.page) }

func (q *pageQuery) run(ctx context.Context, from database.Queryer, statement string) ([]feedback.Request, error) {
	scan := row.Scan
	if q.page.Brief {
		scan = scanBrief
	}
	return database.All(ctx, from, scan, statement, q.Parameters...)
}

// limited ends a range. Without the CAST, SQLite would prepare the statement again for
// each value of the parameter.
const limited = " LIMIT CAST($3 AS BIGINT)"

// one returns a statement for the range of requests that match a condition.
func (q *pageQuery) one(where, order string) string {
	columns := row.Columns
	if q.page.Brief {
		columns = briefColumns
	}
	return "SELECT " + columns + " FROM requests WHERE account_id = $1 AND box = $2" + where + q.common + " ORDER BY " + order + limited
}

// ranges returns a statement for each combination of the filter's apps and statuses.
func (q *pageQuery) ranges(where, order string) []string {
	f := q.filter
	apps := []string{""}
	switch {
	case f.AppID != nil:
		apps[0] = " AND app_id = " + q.Add(*f.AppID)
	case len(q.dead) > 0 && len(q.live)*max(1, len(f.Statuses)) <= maxBranches:
		apps = apps[:0]
		for _, id := range q.live {
			apps = append(apps, " AND app_id = "+q.Add(id))
		}
	case len(q.dead) > 0:
		where += " AND app_id NOT IN (" + database.List(&q.Parameters, q.dead) + ")"
	}
	statuses := []string{""}
	if len(f.Statuses) > 0 {
		statuses = statuses[:0]
		for _, status := range slices.Compact(slices.Sorted(slices.Values(f.Statuses))) {
			statuses = append(statuses, " AND status = "+q.Add(string(status)))
		}
	}
	var all []string
	for _, app := range apps {
		for _, status := range statuses {
			all = append(all, q.one(app+status+where, order))
		}
	}
	return all
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

// severalVotes selects the requests with more than one vote, and noVote those with none,
// both by a partial index; oneVote selects the others, which are most, in the order of ids.
// Each returns "" if all of its rows are before the page.
func (q *pageQuery) severalVotes() string {
	if after := q.page.After; after != nil && after.Votes <= 1 {
		return ""
	}
	return q.one(" AND votes <> 1 AND votes > 1"+q.beyond()+q.app()+q.others(), byVotes)
}

func (q *pageQuery) oneVote() string {
	where := " AND votes = 1"
	if after := q.page.After; after != nil && after.Votes < 1 {
		return ""
	} else if after != nil && after.Votes == 1 {
		where += " AND id < " + q.Add(after.ID)
	}
	return merged(q.ranges(where, byID), byID)
}

func (q *pageQuery) noVote() string {
	where := " AND votes <> 1 AND votes = 0"
	if after := q.page.After; after != nil && after.Votes == 0 {
		where += " AND id < " + q.Add(after.ID)
	}
	return q.one(where+q.app()+q.others(), byID)
}

// trendingRows reads the page in the order of Trending: the requests with heat by a partial index, which has a range
// for each app, and then the others, which are most, in the order of ids.
func (q *pageQuery) trendingRows(ctx context.Context, from database.Queryer) ([]feedback.Request, error) {
	rows, after := []feedback.Request{}, q.page.After
	if after == nil || after.Heat != 0 {
		for apps := range slices.Chunk(q.live, maxBranches) {
			q := q.again()
			some, err := q.run(ctx, from, q.warmRows(apps))
			if err != nil {
				return nil, err
			}
			rows = append(rows, some...)
		}
		slices.SortFunc(rows, q.page.compare)
	}
	if len(rows) < q.page.Limit {
		q := q.again()
		others, err := q.run(ctx, from, q.coldRows())
		if err != nil {
			return nil, err
		}
		rows = append(rows, others...)
	}
	return rows[:min(len(rows), q.page.Limit)], nil
}

// warmRows selects the requests of apps with heat.
func (q *pageQuery) warmRows(apps []feedback.ID) string {
	where := " AND heat <> 0" + q.beyond() + q.others()
	var ranges []string
	for _, id := range apps {
		ranges = append(ranges, q.one(where+" AND app_id = "+q.Add(id), byHeat))
	}
	return merged(ranges, byHeat)
}

// coldRows selects the others.
func (q *pageQuery) coldRows() string {
	where := " AND heat = 0"
	if after := q.page.After; after != nil && after.Heat == 0 {
		where += " AND id < " + q.Add(after.ID)
	}
	return merged(q.ranges(where, byID), byID)
}

// changedRows selects the requests that were ever changed, by a partial index.
func (q *pageQuery) changedRows() string {
	return q.one(" AND version > 1"+q.beyond()+q.app()+q.others(), byUpdated)
}

// unchangedRows selects the others, whose ids have the time of their only update. since is
// the update of the last changed request on the page; requests older than that are not on
// it, and reading them could mean walking past many changed ones.
func (q *pageQuery) unchangedRows(since *feedback.Time) string {
	where := " AND version = 1"
	if since != nil {
		where += " AND id >= " + q.Add(feedback.FirstIDAt(since.Std()))
	}
	if after := q.page.After; after != nil {
		where += " AND id < " + q.Add(feedback.FirstIDAt(after.UpdatedAt.Std().Add(time.Millisecond))) + q.beyond()
	}
	return merged(q.ranges(where, byID), byID)
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
