package index

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// facet is a part of a filter. Each of its values is counted as if it were chosen instead.
type facet int

const (
	byApp facet = iota
	byStatus
	byAssignee
	bySource
	byTag
)

const (
	facetTags      = 30
	facetAssignees = 200
	// maxAtOnce is up to how many requests the partial indexes by assignee and by source
	// are counted without a time limit; it takes a tenth of a second.
	maxAtOnce = 1_000_000
)

// without returns the filter without a condition on a part.
func (f Filter) without(part facet) Filter {
	switch part {
	case byApp:
		f.AppID = nil
	case byStatus:
		f.Statuses = nil
	case byAssignee:
		f.AssigneeID, f.Unassigned = nil, false
	case bySource:
		f.Source = ""
	case byTag:
		f.Tag = ""
	}
	return f
}

// picks reports whether the filter has a condition on a part.
func (f Filter) picks(part facet) bool {
	switch part {
	case byApp:
		return f.AppID != nil
	case byStatus:
		return len(f.Statuses) > 0
	case byAssignee:
		return f.AssigneeID != nil || f.Unassigned
	case bySource:
		return f.Source != ""
	}
	return f.Tag != ""
}

// facetCounter counts the facets of one filter. All of them share a limited time.
type facetCounter struct {
	*Index
	accountID feedback.ID
	filter    Filter
	end       time.Time
	counters  []counter
	looked    []lookedUp
	own       *groups // what the filter itself matches
}

// counter is a row of request_counts.
type counter struct {
	appID  feedback.ID
	box    feedback.Box
	status feedback.Status
	n      int64
}

// group is a number of requests with the same values.
type group struct {
	values [bySource + 1]string
	n      int64
}

type groups struct {
	list  []group
	exact bool
}

// sums are how many requests have each value of a part.
type sums struct {
	n     map[string]int64
	exact bool
}

// Facets counts, for each value of each part of the filter, how many requests the list
// would have if that value were chosen. It refuses with ErrAppNotFound when the filter names an app that the account
// does not have.
func (x *Index) Facets(ctx context.Context, accountID feedback.ID, f Filter) (found feedback.Facets, err error) {
	c := &facetCounter{Index: x, accountID: accountID, filter: f, end: time.Now().Add(countTime)}
	if _, err := c.scope(ctx, f); err != nil {
		return found, err
	}
	if err := c.readCounters(ctx); err != nil {
		return found, err
	}
	for _, count := range []func(context.Context, *feedback.Facets) error{c.apps, c.statuses, c.boxes, c.assignees, c.sources, c.tags} {
		if err := count(ctx, &found); err != nil {
			return found, err
		}
	}
	return found, nil
}

// lookedUp is what the index knows about the filter's query in some apps.
type lookedUp struct {
	apps  []feedback.ID
	match match
}

// scope is Resolve, but looks up the query only once for the same apps.
func (c *facetCounter) scope(ctx context.Context, f Filter) (Scope, error) {
	s, err := resolveApps(ctx, c.db.Reader(), c.accountID, f)
	if err != nil || f.Query == "" || s.n == 0 {
		return s, err
	}
	for _, known := range c.looked {
		if slices.Equal(known.apps, s.live) {
			return s.matching(known.match), nil
		}
	}
	m, err := lookup(ctx, c.db.Reader(), c.accountID, f.Query, s.live)
	if err != nil {
		return s, err
	}
	c.looked = append(c.looked, lookedUp{s.live, m})
	return s.matching(m), nil
}

func (c *facetCounter) readCounters(ctx context.Context) (err error) {
	c.counters, err = database.All(ctx, c.db.Reader(), func(r database.Row) (one counter, err error) {
		err = r.Scan(&one.appID, (*string)(&one.box), (*string)(&one.status), &one.n)
		return one, err
	}, `SELECT c.app_id, c.box, c.status, c.n FROM request_counts c JOIN apps a ON a.account_id = c.account_id AND a.id = c.app_id
		WHERE c.account_id = $1 AND a.deleted_at IS NULL`, c.accountID)
	return err
}

// counted adds up the counters that a filter matches, by the value that name returns.
func (c *facetCounter) counted(f Filter, name func(counter) string) sums {
	result := sums{map[string]int64{}, true}
	for _, one := range c.counters {
		if one.box == f.Box && (f.AppID == nil || *f.AppID == one.appID) && (len(f.Statuses) == 0 || slices.Contains(f.Statuses, one.status)) {
			result.n[name(one)] += one.n
		}
	}
	return result
}

// total is how many requests the counters know for a filter.
func (c *facetCounter) total(f Filter) int64 {
	return c.counted(f, func(counter) string { return "" }).n[""]
}

// values counts by a part of the filter, except tags, in the cheapest way.
func (c *facetCounter) values(ctx context.Context, part facet) (sums, error) {
	f := c.filter.without(part)
	if f.counted() {
		switch {
		case part == byApp:
			return c.counted(f, func(one counter) string { return one.appID.String() }), nil
		case part == byStatus:
			return c.counted(f, func(one counter) string { return string(one.status) }), nil
		case c.total(Filter{Box: f.Box}) <= maxAtOnce:
			return c.byIndex(ctx, f, part)
		}
	}
	found, err := c.grouped(ctx, part)
	result := sums{map[string]int64{}, found.exact}
	for _, g := range found.list {
		result.n[g.values[part]] += g.n
	}
	return result, err
}

// byIndex counts assigned requests, or those that did not come from the widget, from the
// partial index of these. The counters have the total, so the rest are the others.
func (c *facetCounter) byIndex(ctx context.Context, f Filter, part facet) (sums, error) {
	within, err := c.scope(ctx, f)
	if err != nil {
		return sums{}, err
	}
	column, where, others := "assignee_id", "assignee_id IS NOT NULL", feedback.Nobody
	if part == bySource {
		column, where, others = "source", "source <> 'widget'", fromWidget
	}
	q := &pageQuery{Parameters: database.Parameters{c.accountID, string(f.Box)}, Scope: within}
	where += q.app(true) + q.others()
	result := sums{map[string]int64{others: c.total(f)}, true}
	_, err = database.All(ctx, c.db.Reader(), func(r database.Row) (none struct{}, err error) {
		var id feedback.ID
		var text string
		var n int64
		if part == bySource {
			err = r.Scan(&text, &n)
		} else {
			err = r.Scan(&id, &n)
			text = id.String()
		}
		result.n[text] += n
		result.n[others] -= n
		return none, err
	}, "SELECT "+column+", COUNT(*) FROM requests WHERE account_id = $1 AND box = $2 AND "+where+" GROUP BY "+column, q.Parameters...)
	result.n[others] = max(result.n[others], 0) // the counters were read before
	return result, err
}

// grouped counts the requests that match the filter without a part. Parts without a
// condition share one count.
func (c *facetCounter) grouped(ctx context.Context, part facet) (groups, error) {
	picks := c.filter.picks(part)
	if !picks && c.own != nil {
		return *c.own, nil
	}
	found, err := c.groupRows(ctx, c.filter.without(part))
	if !picks {
		c.own = &found
	}
	return found, err
}

// groupRows counts the rows that a filter matches, in groups. Wrapping the columns in
// COALESCE keeps SQLite from walking an index for the order of the groups.
func (c *facetCounter) groupRows(ctx context.Context, f Filter) (found groups, err error) {
	within, err := c.scope(ctx, f)
	if err != nil || within.n == 0 {
		return groups{exact: true}, err
	}
	found.exact, err = c.inRanges(ctx, within, c.end, func(from, until *feedback.ID) error {
		rows, _, p := between(within, from, until)
		some, err := database.All(ctx, c.db.Reader(), scanGroup,
			"SELECT COALESCE(app_id, app_id), COALESCE(status, status), COALESCE(assignee_id, assignee_id), COALESCE(source, source), COUNT(*)"+
				rows+" GROUP BY 1, 2, 3, 4", p...)
		found.list = append(found.list, some...)
		return err
	})
	return found, err
}

func scanGroup(r database.Row) (g group, err error) {
	var appID feedback.ID
	var assignee *feedback.ID
	if err := r.Scan(&appID, &g.values[byStatus], &assignee, &g.values[bySource], &g.n); err != nil {
		return g, err
	}
	g.values[byApp], g.values[byAssignee] = appID.String(), feedback.Nobody
	if assignee != nil {
		g.values[byAssignee] = assignee.String()
	}
	return g, nil
}

// of is the tally of one value.
func (c sums) of(value string) feedback.Tally {
	return feedback.Tally{Count: c.n[value], Exact: c.exact}
}

// most returns up to most values that have requests, the most frequent first, and always
// the given ones.
func (c sums) most(most int, always ...string) []string {
	for _, value := range always {
		c.n[value] += 0
	}
	values := slices.SortedFunc(maps.Keys(c.n), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.n[b], c.n[a]), cmp.Compare(a, b))
	})
	shown := values[:0]
	for i, value := range values {
		if c.n[value] > 0 && i < most || slices.Contains(always, value) {
			shown = append(shown, value)
		}
	}
	return shown
}
