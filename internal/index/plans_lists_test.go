package index_test

import (
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// settle gives one request in a hundred votes and changes.
func settle(b *storetest.Big) {
	b.T.Helper()
	b.Exec("UPDATE requests SET votes = length(idempotency_key), version = 2, updated_at = updated_at + length(idempotency_key)" +
		" WHERE idempotency_key LIKE '%00'")
	b.Analyze()
}

// TestOtherListPlans: lists in other orders read their own index, and not more of it than
// they need.
func TestOtherListPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		settle(b)
		app := b.AcmeApps[3].ID
		byID := []string{"requests_box", "requests_app", "requests_status", "requests_app_status"}
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
				append(byID, "requests_changed", "sqlite_autoindex_requests_1"), 3,
			},
			{"recently updated of an app", index.Filter{AppID: &app}, index.RecentlyUpdated, "requests", append(byID, "requests_app_changed"), 3},
		} {
			c.filter.Box = feedback.Live
			const limit = 51
			for _, after := range []*index.Place{nil, {ID: *b.Deep(), Votes: 8, UpdatedAt: feedback.At(b.Clock.Now())}} {
				sent := b.During(func(s *store.Store) error {
					_, _, err := s.Index.List(ctx, b.Acme.ID, c.filter, index.Page{Sort: c.sort, After: after, Limit: limit})
					return err
				})
				read := 0.0
				for _, s := range sent {
					if !strings.Contains(s.Query, "submitter_email") { // it counts
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
