package index_test

import (
	"strings"
	"testing"

	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestPlansOfTheLargestAccount: among many small accounts, the requests of a large one are read by
// their ids, and not the whole account to find them.
func TestPlansOfTheLargestAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		if at.Name != "postgres" {
			return // SQLite has no statistics
		}
		b := storetest.NewBigOf(t, at, 40_000, 2000)
		b.FillOthers()
		for _, s := range b.During(func(s *store.Store) error {
			_, err := s.Index.Follower().Step(ctx, index.MaxChunk, 1)
			return err
		}) {
			if strings.Contains(s.Query, "FROM requests WHERE account_id = $1 AND id IN") {
				b.CheckPlan("the requests to index", s, "requests", "requests_pkey")
				return
			}
		}
		t.Fatal("the index reads no requests by their ids")
	})
}
