package index_test

import (
	"database/sql/driver"
	"strings"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// settle gives one request in a thousand votes, heat and changes.
func settle(b *storetest.Big) {
	b.T.Helper()
	b.Exec("UPDATE requests SET votes = length(idempotency_key), heat = created_at, version = 2," +
		" updated_at = updated_at + length(idempotency_key) WHERE idempotency_key LIKE '%000'")
	b.Analyze()
}

// TestOtherListPlans: lists in other orders read their own index, and not more of it than
// they need.
func TestOtherListPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		settle(b)
		b.Exec("UPDATE requests SET hidden = TRUE WHERE app_id = $1 OR idempotency_key LIKE '%4000'", b.AcmeApps[0].ID)
		b.Analyze()
		app, primary := b.AcmeApps[3].ID, primaryKey(at)
		byID := []string{"requests_app_status", "requests_triaged", primary}
		for _, c := range []struct {
			name    string
			filter  index.Filter
			sort    index.Sort
			table   string
			indexes []string
			read    float64 // pages' worth of rows at the most
		}{
			{"most voted", index.Filter{}, index.MostVoted, "requests", append(byID, "requests_voted"), 3},
			{"most voted of an app", index.Filter{AppID: &app}, index.MostVoted, "requests", append(byID, "requests_app_voted"), 3},
			{
				"most voted in a status",
				index.Filter{Statuses: []feedback.Status{"planned"}},
				index.MostVoted, "requests",
				append(byID, "requests_voted"), 10,
			},
			{
				"recently updated",
				index.Filter{},
				index.RecentlyUpdated, "requests",
				append(byID, "requests_changed"), 3,
			},
			{"recently updated of an app", index.Filter{AppID: &app}, index.RecentlyUpdated, "requests", append(byID, "requests_app_changed"), 3},
			{"trending of an app", index.Filter{AppID: &app}, index.Trending, "requests", append(byID, "requests_app_heat"), 3},
			{"trending in five apps", index.Filter{}, index.Trending, "requests", append(byID, "requests_app_heat"), 7},
			{
				"trending in statuses of an app, not hidden",
				index.Filter{AppID: &app, Statuses: []feedback.Status{"planned", "opened"}, Hidden: new(false)},
				index.Trending,
				"requests",
				append(byID, "requests_app_heat"),
				10,
			},
			{"not hidden of an app", index.Filter{AppID: &app, Hidden: new(false)}, index.Newest, "requests", ofApp, 2.2},
			{
				"oldest in statuses of an app, not hidden",
				index.Filter{AppID: &app, Statuses: []feedback.Status{"planned", "opened"}, Hidden: new(false)},
				index.Oldest,
				"requests",
				ofStatus,
				2.2,
			},
			{
				"most voted in statuses of an app, not hidden",
				index.Filter{AppID: &app, Statuses: []feedback.Status{"planned", "opened"}, Hidden: new(false)},
				index.MostVoted, "requests",
				append(byID, "requests_app_voted"), 10,
			},
			{
				"recently updated of an app, not hidden",
				index.Filter{AppID: &app, Hidden: new(false)},
				index.RecentlyUpdated, "requests",
				append(byID, "requests_app_changed"), 3,
			},
		} {
			c.filter.Box = feedback.Live
			const limit = 51
			deep := index.Place{ID: *b.Deep(), Votes: 8, Heat: int64(b.Deep().Time()), UpdatedAt: feedback.At(b.Clock.Now())}
			for _, after := range []*index.Place{nil, &deep, {ID: *b.Deep(), Votes: 1, UpdatedAt: feedback.At(b.Clock.Now())}} {
				sent := b.During(func(s *store.Store) error {
					_, _, err := s.Index.List(ctx, b.Acme.ID, c.filter, index.Page{Sort: c.sort, After: after, Limit: limit})
					return err
				})
				read := 0.0
				for _, s := range sent {
					if !strings.Contains(s.Query, "submitter_email") { // it counts
						if strings.Contains(s.Query, "AND hidden") {
							b.CheckPlan(c.name+", hidden ones", s, c.table, "requests_hidden")
						}
						continue
					}
					b.CheckPlan(c.name, s, c.table, c.indexes...)
					if at.Name == "sqlite" {
						continue
					}
					for _, n := range b.RunPlan(s) {
						if strings.HasPrefix(n.Kind, "Index") && n.Table == c.table {
							read += n.Read
						}
					}
				}
				if read > c.read*limit {
					t.Errorf("%s, deep %v: %v rows are read for a page of %d", c.name, after != nil, read, limit)
				}
			}
		}
	})
}

// TestPlainListsNeedNoIndex: lists by app, status and box are read from the requests alone, and
// their totals from the counters. Other lists are not.
func TestPlainListsNeedNoIndex(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.Fill(app, 3)
		var found atomic.Int64
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.Contains(query, "index_") {
				found.Add(1)
			}
		})
		for name, c := range map[string]struct {
			filter  index.Filter
			indexed bool
		}{
			"an app":     {index.Filter{AppID: &app.ID}, false},
			"statuses":   {index.Filter{Statuses: []feedback.Status{feedback.Opened, "planned"}}, false},
			"a tag":      {index.Filter{Tag: "billing"}, true},
			"unassigned": {index.Filter{Unassigned: true}, true},
			"not hidden": {index.Filter{Hidden: new(false)}, false},
			"hidden":     {index.Filter{Hidden: new(true)}, true},
			"a source":   {index.Filter{Source: "widget"}, true},
			"a word":     {index.Filter{Query: "T1"}, true},
			"a time":     {index.Filter{CreatedAfter: new(feedback.Time(1))}, true},
		} {
			c.filter.Box = feedback.Live
			found.Store(0)
			if _, _, err := s.Index.List(ctx, app.AccountID, c.filter, index.Page{Sort: index.Newest, Limit: 10}); err != nil {
				t.Fatal(err)
			}
			if indexed := found.Load() > 0; indexed != c.indexed {
				t.Errorf("a list by %s reads the index: %t", name, indexed)
			}
		}
	})
}
