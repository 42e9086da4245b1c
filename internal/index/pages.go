package index

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/row"
)

// A page is merged in SQL from ranges, each of which is read from an index in the
// order of ids, so that no page costs more than its own rows: one range for each
// status that is asked for, and one for each live app while a deleted one is being
// purged. In other orders, an index has the rows whose place is not that of their id,
// and the others are in the order of their ids.

// pageQuery makes the statements of one page.
type pageQuery struct {
	database.Parameters
	Scope
	page   Page
	common string // conditions of every range
}

func newPageQuery(s Scope, page Page) *pageQuery {
	q := &pageQuery{Parameters: database.Parameters{s.accountID, string(s.filter.Box), page.Limit}, Scope: s, page: page}
	q.common = q.conditions()
	return q
}

// The orders. Ids are never null. But said like this only the lists' own indexes have
// the order: PostgreSQL might walk the primary key over all that the filter leaves
// out.
const (
	byID      = "id DESC NULLS LAST"
	byIDUp    = "id ASC NULLS FIRST"
	byVotes   = "votes DESC, id DESC NULLS LAST"
	byUpdated = "updated_at DESC, id DESC NULLS LAST"
)

// maxBranches is how many ranges one page is merged from at the most.
const maxBranches = 64

// order is that of the page.
func (q *pageQuery) order() string {
	return map[Sort]string{Newest: byID, Oldest: byIDUp, MostVoted: byVotes, RecentlyUpdated: byUpdated}[q.page.Sort]
}

// merged is the statement that merges ranges which are in an order.
func merged(ranges []string, order string) string {
	if len(ranges) == 1 {
		return ranges[0]
	}
	return "SELECT * FROM (SELECT * FROM (" + strings.Join(ranges, ") AS part UNION ALL SELECT * FROM (") + ") AS part) AS page ORDER BY " + order + limited
}

// rows reads the page.
func (q *pageQuery) rows(ctx context.Context, from database.Queryer) ([]feedback.Request, error) {
	again := func() *pageQuery { // with parameters of its own
		return newPageQuery(q.Scope, q.page)
	}
	run := func(q *pageQuery, statement string) ([]feedback.Request, error) {
		return database.All(ctx, from, row.Scan, statement, q.Parameters...)
	}
	switch {
	case q.narrow():
		return run(q, q.narrowRange())
	case q.page.Sort == MostVoted:
		rows := []feedback.Request{}
		for _, part := range []func(*pageQuery) string{(*pageQuery).severalVotes, (*pageQuery).oneVote, (*pageQuery).noVote} {
			q := again()
			statement := part(q)
			if len(rows) >= q.page.Limit || statement == "" {
				continue
			}
			more, err := run(q, statement)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		}
		return rows[:min(len(rows), q.page.Limit)], nil
	case q.page.Sort == RecentlyUpdated:
		rows, err := run(q, q.changedRows())
		if err != nil {
			return nil, err
		}
		var since *feedback.Time
		if len(rows) == q.page.Limit {
			since = &rows[len(rows)-1].UpdatedAt
		}
		q := again()
		others, err := run(q, q.unchangedRows(since))
		rows = append(rows, others...)
		slices.SortFunc(rows, func(a, b feedback.Request) int {
			return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), b.ID.Compare(a.ID))
		})
		return rows[:min(len(rows), q.page.Limit)], err
	}
	return run(q, merged(q.ranges(q.beyond(), q.order()), q.order()))
}

// limited ends a range. SQLite would prepare the statement again for each value of a
// bare parameter here, to plan for it.
const limited = " LIMIT CAST($3 AS BIGINT)"

// one is a range of the requests that a condition picks.
func (q *pageQuery) one(where, order string) string {
	return "SELECT " + row.Columns + " FROM requests WHERE account_id = $1 AND box = $2" + where + q.common + " ORDER BY " + order + limited
}

// conditions are those parts of the filter that pick no index.
func (q *pageQuery) conditions() string {
	var b strings.Builder
	f := q.filter
	if f.CreatedAfter != nil {
		b.WriteString(" AND id >= " + q.Add(feedback.FirstIDAt(f.CreatedAfter.Std())))
	}
	if f.CreatedBefore != nil {
		b.WriteString(" AND id < " + q.Add(feedback.FirstIDAt(f.CreatedBefore.Std())))
	}
	if f.Unassigned {
		b.WriteString(" AND assignee_id IS NULL")
	}
	if f.Source == fromWidget {
		b.WriteString(" AND source = " + q.Add(f.Source))
	}
	if q.page.Unchanged != nil {
		b.WriteString(" AND updated_at <= " + q.Add(*q.page.Unchanged))
	}
	if q.match != nil {
		b.WriteString(q.match.all(&q.Parameters))
	}
	return b.String()
}

// ranges are those of the filter's apps and statuses, in the order of ids.
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

// beyond is what comes after the last row of the page before.
func (q *pageQuery) beyond() string {
	after := q.page.After
	if after == nil {
		return ""
	}
	switch q.page.Sort {
	case MostVoted:
		return " AND (votes, id) < (" + q.Add(after.Votes) + ", " + q.Add(after.ID) + ")"
	case RecentlyUpdated:
		return " AND (updated_at, id) < (" + q.Add(after.UpdatedAt) + ", " + q.Add(after.ID) + ")"
	case Oldest:
		return " AND id > " + q.Add(after.ID)
	}
	return " AND id < " + q.Add(after.ID)
}

// severalVotes are the requests with more than one vote, and noVote those with none, by
// an index of their own; oneVote are most, in the order of ids. A part that lies before
// the page is "".
func (q *pageQuery) severalVotes() string {
	if after := q.page.After; after != nil && after.Votes <= 1 {
		return ""
	}
	return q.one(" AND votes <> 1 AND votes > 1"+q.beyond()+q.app(false)+q.others(), byVotes)
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
	return q.one(where+q.app(false)+q.others(), byID)
}

// changedRows are the requests that were changed, by an index of their own.
func (q *pageQuery) changedRows() string {
	return q.one(" AND version > 1"+q.beyond()+q.app(false)+q.others(), byUpdated)
}

// unchangedRows are the others: they were updated when they were created, which their
// ids say. since is when the last of the changed ones was updated that can be on the
// page: without it, all of a list of changed ones would be walked over.
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

// app is the filter's app. Hidden, neither database takes the index of apps.
func (q *pageQuery) app(withoutIndex bool) string {
	switch {
	case q.filter.AppID == nil:
		return ""
	case withoutIndex:
		return " AND COALESCE(app_id, app_id) = " + q.Add(*q.filter.AppID)
	}
	return " AND app_id = " + q.Add(*q.filter.AppID)
}

// others are the rest of the filter's conditions where another index is to be read.
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

// narrow reports whether few requests are picked, to which something leads.
func (q *pageQuery) narrow() bool {
	return q.filter.narrow() || q.match != nil && q.match.drives
}

// narrowRange is what a tag, a person, a rare source or a word picks, by an index of that, and
// sorted where the order is not that of ids.
func (q *pageQuery) narrowRange() string {
	where, from := q.narrowed()
	if from == "" {
		return q.one(where+q.beyond(), q.order())
	}
	return "SELECT " + row.Columns + from + where + q.common + q.beyond() + " ORDER BY " + q.order() + limited
}

// joined looks up the requests that come from somewhere. SQLite, which knows of no
// statistics, keeps the order of a CROSS JOIN: it might ask of all requests whether they
// are among them.
const joined = " CROSS JOIN requests WHERE account_id = $1 AND id = request_id AND box = $2"

// narrowed is the condition that picks the index, and where the rows come from if it
// is not simply the table of requests.
func (q *pageQuery) narrowed() (where, from string) {
	f := q.filter
	rest := q.app(true) + q.others()
	if f.AssigneeID != nil && f.Tag != "" {
		rest += " AND COALESCE(assignee_id, assignee_id) = " + q.Add(*f.AssigneeID)
	}
	if f.Source != "" && f.Source != fromWidget && (f.Tag != "" || f.AssigneeID != nil) {
		rest += " AND COALESCE(source, source) = " + q.Add(f.Source)
	}
	switch {
	case f.Tag != "":
		return rest, " FROM (SELECT request_id FROM request_tags WHERE account_id = $1 AND tag = " + q.Add(f.Tag) +
			") AS tagged" + joined
	case f.AssigneeID != nil:
		return " AND assignee_id = " + q.Add(*f.AssigneeID) + rest, ""
	case f.Source == "" || f.Source == fromWidget:
		return rest, " FROM " + q.match.candidates(&q.Parameters, q.live) + joined
	}
	return " AND source <> 'widget' AND source = " + q.Add(f.Source) + rest, ""
}
