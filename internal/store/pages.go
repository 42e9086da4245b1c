package store

import (
	"slices"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// A page is merged in SQL from ranges, each of which is read from an index in the
// order of the list, so that no page costs more than its own rows: one range for each
// status that is asked for, one for each live app while a deleted one is being
// purged, and, in other orders than that of ids, one for the rows that an index of
// that order has and others for the rest, which are in the order of their ids.

// pageQuery is the statement of one page.
type pageQuery struct {
	parameters
	filter     Filter
	page       Page
	live, dead []feedback.ID // the apps that the filter names
	common     string        // conditions of every range
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

func newPageQuery(accountID feedback.ID, f Filter, page Page, live, dead []feedback.ID) (string, []any) {
	q := &pageQuery{parameters: parameters{accountID, string(f.Box), page.Limit}, filter: f, page: page, live: live, dead: dead}
	q.common = q.conditions()
	order := map[Sort]string{Newest: byID, Oldest: byIDUp, MostVoted: byVotes, RecentlyUpdated: byUpdated}[page.Sort]
	var ranges []string
	switch {
	case f.narrow():
		ranges = []string{q.narrowRange(order)}
	case page.Sort == MostVoted:
		ranges = q.votedRanges()
	case page.Sort == RecentlyUpdated:
		ranges = q.updatedRanges()
	default:
		ranges = q.ranges(q.beyond(), order)
	}
	if len(ranges) == 1 {
		return ranges[0], q.parameters
	}
	return "SELECT * FROM (SELECT * FROM (" + strings.Join(ranges, ") AS part UNION ALL SELECT * FROM (") + ") AS part) AS page ORDER BY " + order + limited, q.parameters
}

// limited ends a range. SQLite would prepare the statement again for each value of a
// bare parameter here, to plan for it.
const limited = " LIMIT CAST($3 AS BIGINT)"

// one is a range of the requests that a condition picks.
func (q *pageQuery) one(where, order string) string {
	return "SELECT " + requestColumns + " FROM requests WHERE account_id = $1 AND box = $2" + where + q.common + " ORDER BY " + order + limited
}

// conditions are those parts of the filter that pick no index.
func (q *pageQuery) conditions() string {
	var b strings.Builder
	f := q.filter
	if f.CreatedAfter != nil {
		b.WriteString(" AND id >= " + q.add(feedback.FirstIDAt(f.CreatedAfter.Std())))
	}
	if f.CreatedBefore != nil {
		b.WriteString(" AND id < " + q.add(feedback.FirstIDAt(f.CreatedBefore.Std())))
	}
	if f.Unassigned {
		b.WriteString(" AND assignee_id IS NULL")
	}
	if f.Source == fromWidget {
		b.WriteString(" AND source = " + q.add(f.Source))
	}
	if q.page.Unchanged != nil {
		b.WriteString(" AND updated_at <= " + q.add(*q.page.Unchanged))
	}
	return b.String()
}

// ranges are those of the filter's apps and statuses, in the order of ids.
func (q *pageQuery) ranges(where, order string) []string {
	f := q.filter
	apps := []string{""}
	switch {
	case f.AppID != nil:
		apps[0] = " AND app_id = " + q.add(*f.AppID)
	case len(q.dead) > 0 && len(q.live)*max(1, len(f.Statuses)) <= maxBranches:
		apps = apps[:0]
		for _, id := range q.live {
			apps = append(apps, " AND app_id = "+q.add(id))
		}
	case len(q.dead) > 0:
		where += " AND app_id NOT IN (" + list(&q.parameters, q.dead) + ")"
	}
	statuses := []string{""}
	if len(f.Statuses) > 0 {
		statuses = statuses[:0]
		for _, status := range slices.Compact(slices.Sorted(slices.Values(f.Statuses))) {
			statuses = append(statuses, " AND status = "+q.add(string(status)))
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
		return " AND (votes, id) < (" + q.add(after.Votes) + ", " + q.add(after.ID) + ")"
	case RecentlyUpdated:
		return " AND (updated_at, id) < (" + q.add(after.UpdatedAt) + ", " + q.add(after.ID) + ")"
	case Oldest:
		return " AND id > " + q.add(after.ID)
	}
	return " AND id < " + q.add(after.ID)
}

// votedRanges are the requests with several votes, by their own index, and those with
// one and with none, which are most, in the order of ids.
func (q *pageQuery) votedRanges() []string {
	after := q.page.After
	var all []string
	if after == nil || after.Votes > 1 {
		all = append(all, q.one(" AND votes > 1"+q.beyond()+q.hidden(), byVotes))
	}
	for _, votes := range []int64{1, 0} {
		where := " AND votes = " + q.add(votes)
		switch {
		case after != nil && after.Votes < votes:
			continue
		case after != nil && after.Votes == votes:
			where += " AND id < " + q.add(after.ID)
		}
		all = append(all, q.ranges(where, byID)...)
	}
	return all
}

// updatedRanges are the requests that were changed, by their own index, and those that
// never were: these were updated when they were created, which their ids say.
func (q *pageQuery) updatedRanges() []string {
	all := []string{q.one(" AND version > 1"+q.beyond()+q.hidden(), byUpdated)}
	where := " AND version = 1"
	if after := q.page.After; after != nil {
		where += " AND id < " + q.add(feedback.FirstIDAt(after.UpdatedAt.Std().Add(time.Millisecond))) + q.beyond()
	}
	return append(all, q.ranges(where, byID)...)
}

// hidden are the filter's apps and statuses where another index is to be read: said
// like this, neither database takes theirs.
func (q *pageQuery) hidden() string {
	var b strings.Builder
	if q.filter.AppID != nil {
		b.WriteString(" AND COALESCE(app_id, app_id) = " + q.add(*q.filter.AppID))
	}
	if len(q.dead) > 0 {
		b.WriteString(" AND app_id NOT IN (" + list(&q.parameters, q.dead) + ")")
	}
	if len(q.filter.Statuses) > 0 {
		b.WriteString(" AND COALESCE(status, status) IN (" + list(&q.parameters, q.filter.Statuses) + ")")
	}
	return b.String()
}

// narrowRange is what a tag, a person or a rare source picks, by an index of that, and
// sorted where the order is not that of ids.
func (q *pageQuery) narrowRange(order string) string {
	where, from := q.narrowed()
	if from == "" {
		return q.one(where+q.beyond(), order)
	}
	return "SELECT " + requestColumns + from + where + q.common + q.beyond() + " ORDER BY " + order + limited
}

// narrowed is the condition that picks the index, and where the rows come from if it
// is not simply the table of requests.
func (q *pageQuery) narrowed() (where, from string) {
	f := q.filter
	others := ""
	if f.AssigneeID != nil && f.Tag != "" {
		others += " AND COALESCE(assignee_id, assignee_id) = " + q.add(*f.AssigneeID)
	}
	if f.Source != "" && f.Source != fromWidget && (f.Tag != "" || f.AssigneeID != nil) {
		others += " AND COALESCE(source, source) = " + q.add(f.Source)
	}
	others += q.hidden()
	switch {
	case f.Tag != "":
		return others, " FROM (SELECT request_id FROM request_tags WHERE account_id = $1 AND tag = " + q.add(f.Tag) +
			") AS tagged JOIN requests ON account_id = $1 AND id = request_id WHERE box = $2"
	case f.AssigneeID != nil:
		return " AND assignee_id = " + q.add(*f.AssigneeID) + others, ""
	}
	return " AND source <> 'widget' AND source = " + q.add(f.Source) + others, ""
}
