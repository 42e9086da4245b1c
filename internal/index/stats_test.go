package index_test

import (
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestStatsPlans: requests are counted by indexes that have all that is asked, and no
// more of them is read than the range has; and many requests are counted right.
func TestStatsPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		settle(b)
		b.Exec("UPDATE requests SET answered_after = 1 WHERE idempotency_key LIKE '%0'")
		b.Analyze()
		if at.Name == "postgres" { // as autovacuum does; else the index alone does not say which rows are there
			b.Exec("VACUUM requests")
		}
		from, to := feedback.At(storetest.BigFirst.Add(storetest.BigTime/2)), feedback.At(storetest.BigFirst.Add(storetest.BigTime))
		whole := feedback.At(storetest.BigFirst.Add(-300 * day))
		for _, deleted := range []bool{false, true} {
			if deleted {
				b.Drop(b.AcmeApps[3])
			}
			for _, app := range []*feedback.ID{nil, &b.AcmeApps[1].ID} {
				var got feedback.Stats
				sent := b.During(func(s *store.Store) (err error) {
					got, err = s.Index.Stats(ctx, b.Acme.ID, app, from, to)
					return err
				})
				for _, s := range sent {
					switch {
					case strings.Contains(s.Query, "c.status, ("):
						b.CheckPlan("statuses", s, "requests", "requests_app_status")
					case strings.Contains(s.Query, "answered_after"):
						b.CheckPlan("answers", s, "requests", "requests_answered")
					case strings.Contains(s.Query, "0 + (SELECT"):
						indexes := []string{"requests_app_status", "requests_triaged"}
						if app == nil {
							indexes = append(indexes, "requests_aside", primaryKey(at))
						}
						b.CheckPlan("days", s, "requests", indexes...)
					default:
						continue
					}
					checkIndexOnly(b, s, strings.Contains(s.Query, "r.app_id NOT IN"))
				}
				stats, err := b.Index.Stats(ctx, b.Acme.ID, app, whole, to)
				outside := map[bool]int64{true: 1}[app == nil] // the one of which the others are copies
				f := index.Filter{Box: feedback.Live, AppID: app}
				_, total, listErr := b.Index.List(ctx, b.Acme.ID, f, index.Page{Sort: index.Newest, Limit: 1})
				if err != nil || listErr != nil || stats.Total+outside != total.N || got.Total >= stats.Total || got.Total == 0 {
					t.Errorf("%d and %d of %d, %v, %v", got.Total, stats.Total, total.N, err, listErr)
				}
			}
		}
	})
}

// checkIndexOnly holds that no statement reads a request, unless it must know whose it is.
func checkIndexOnly(b *storetest.Big, s storetest.Statement, reads bool) {
	b.T.Helper()
	for _, n := range b.Plan(s) {
		searched := strings.Contains(n.Kind, " requests ") || strings.Contains(n.Kind, " r USING")
		if !reads && (searched && !strings.Contains(n.Kind, "COVERING") || n.Table == "requests" && n.Kind != "Index Only Scan") {
			b.T.Errorf("the plan reads requests by %s %s:\n%s", n.Kind, n.Index, s.Query)
		}
	}
}
