package index_test

import (
	"database/sql/driver"
	"reflect"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestRevisions: facets and statistics read again the values of those blocks of the index that have changed, also if
// another process changes them, and count the same as a process that has just started.
func TestRevisions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		large, small := r.NewApp(account), r.NewApp(account)
		requests := distractors(t, 8000)
		nextDay := storetest.BigFirst.Add(24 * time.Hour)
		r.InsertRequests(small, requests[:10])
		r.InsertRequestsFrom(small, nextDay, requests[:10])
		r.InsertRequestsFrom(large, nextDay, requests[:100]) // the first block of the large app has both days, the other one has one
		r.InsertRequests(large, requests[100:3000])
		r.InsertRequestsFrom(large, nextDay, requests[3000:])
		r.IndexAll()
		var values, days int
		s := r.Watched(func(query string, args []driver.NamedValue) {
			if strings.Contains(query, "FROM index_postings") && strings.Contains(query, "term >=") {
				for _, arg := range args {
					if n, is := arg.Value.(int64); is {
						values |= 1 << n // the blocks
					}
				}
			}
			days += strings.Count(query, "FROM index_ids")
		})
		from, to := feedback.At(r.Clock.Now().Add(-100*24*time.Hour)), feedback.At(r.Clock.Now().Add(24*time.Hour))
		check := func(what string, blocks, daysOf int) {
			t.Helper()
			r.IndexAll()
			values, days = 0, 0
			facets, stats := counted(t, s, account.ID, from, to)
			if values != blocks || days != daysOf {
				t.Errorf("%s: blocks %b are read, want %b, and the ids of %d blocks, want %d", what, values, blocks, days, daysOf)
			}
			freshFacets, freshStats := counted(t, at.Open(t, r.Clock.Now), account.ID, from, to)
			if !reflect.DeepEqual(facets, freshFacets) || !reflect.DeepEqual(stats, freshStats) {
				t.Errorf("%s: %+v, %+v; want %+v, %+v", what, facets, stats, freshFacets, freshStats)
			}
			if byDay := liveByDay(r); !reflect.DeepEqual(byDay, notZero(stats.ByDay)) {
				t.Errorf("%s: requests by day: %v, want %v", what, notZero(stats.ByDay), byDay)
			}
		}
		change := func(id feedback.ID, fn func(*feedback.Request)) {
			t.Helper()
			if _, err := r.ChangeRequest(ctx, account.ID, id, feedback.Command(), func(r *feedback.Request) error {
				fn(r)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		ids := r.IDs(large)
		old := ids[len(ids)-1]
		check("at first", 0b11, 2)
		check("again", 0, 0)
		change(old, func(r *feedback.Request) { r.Tags = []string{"design"} })
		check("a tag", 0b01, 1)
		change(old, func(r *feedback.Request) { r.Status = "planned" })
		check("a status", 0b01, 1)
		change(old, func(r *feedback.Request) { r.Tags = nil })
		change(ids[0], func(r *feedback.Request) { r.Tags = []string{"design"} })
		check("tags in two blocks", 0b11, 1)
		r.InsertRequests(small, []feedback.Request{feedback.NewRequest("One more", "")})
		check("a request", 0b01, 1)
		r.InsertRequests(large, []feedback.Request{feedback.NewRequest("One more", "")})
		check("a request in a new block", 0b10, 1)
		change(old, func(r *feedback.Request) { r.Box = feedback.Bin })
		check("a request in the bin", 0b01, 1)
		r.Clock.Move(31 * 24 * time.Hour)
		if err := r.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		check("a request that is gone for good", 0b01, 1)
	})
}

// liveByDay returns how many live requests the database has for each day that has some.
func liveByDay(r *storetest.Rig) map[string]int64 {
	r.T.Helper()
	byDay := map[string]int64{}
	if err := database.Each(ctx, r.Raw, func(row database.Row) error {
		created, err := database.One[feedback.Time](row)
		byDay[created.Std().Format(time.DateOnly)]++
		return err
	}, "SELECT created_at FROM requests WHERE box = 'live'"); err != nil {
		r.T.Fatal(err)
	}
	return byDay
}

// notZero returns the days that have requests.
func notZero(days []feedback.DayCount) map[string]int64 {
	byDay := map[string]int64{}
	for _, d := range days {
		if d.Requests > 0 {
			byDay[d.Day] = d.Requests
		}
	}
	return byDay
}

// counted returns the facets and the statistics of all requests of an account.
func counted(t *testing.T, s *store.Store, accountID feedback.ID, from, to feedback.Time) (feedback.Facets, feedback.Stats) {
	t.Helper()
	facets, err := s.Index.Facets(ctx, accountID, index.Filter{Box: feedback.Live})
	if err != nil {
		t.Fatal(err)
	}
	stats, err := s.Index.Stats(ctx, accountID, nil, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return facets, stats
}
