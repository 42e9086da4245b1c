package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestTagPlans: while the index is far behind, the list of tags costs in proportion to the tagged requests
// of the account, in one that has far more requests than these and in one whose requests all have tags.
func TestTagPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		small := b.NewAccount("Small")
		tagged := func(n int) []feedback.Request {
			requests := make([]feedback.Request, n)
			for i := range requests {
				requests[i] = feedback.NewRequest(fmt.Sprint("T", i), "")
				requests[i].Tags = []string{fmt.Sprint("area ", i%40), fmt.Sprint("kind ", i%7)}
			}
			return requests
		}
		b.InsertRequests(b.AcmeApps[0], tagged(500))
		b.InsertRequests(b.NewApp(small), tagged(6000))
		b.Analyze()
		for account, tags := range map[feedback.ID]float64{b.Acme.ID: 1000, small.ID: 12_000} {
			for _, s := range b.During(func(s *store.Store) error {
				_, _, err := s.CountTags(ctx, account, "", 50)
				return err
			}) {
				if at.Name == "sqlite" {
					b.CheckPlan("tags", s, "requests", primaryKeys(at)("requests"))
					nodes := b.Plan(s)
					first := slices.IndexFunc(nodes, func(n storetest.Node) bool { return strings.HasPrefix(n.Kind, "SEARCH ") })
					if !strings.HasPrefix(nodes[first].Kind, "SEARCH t ") {
						t.Errorf("the plan does not begin with the tags: %v", nodes)
					}
					continue
				}
				read, nodes := 0.0, b.RunPlan(s)
				for _, node := range nodes {
					if node.Table != "" {
						read += node.Read
					}
				}
				// A row of each of the three tables, and those that a merge passes over: far from all requests.
				if most := 3*tags + float64(b.Size)/20; read > most {
					t.Errorf("%v rows are read for %v tags of requests, want at most %v: %v", read, tags, most, nodes)
				}
			}
		}
	})
}
