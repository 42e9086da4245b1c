package index_test

import (
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// TestStatsByDay: requests of many days in one block of the index are counted on their days, also from the middle of a
// day to the middle of another one, and with requests that the index does not know yet.
func TestStatsByDay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		first := r.Clock.Now()
		for i := range 12 {
			r.Fill(app, i%3+1)
			r.Clock.Move(13 * time.Hour)
			if i < 10 {
				r.IndexAll()
			}
		}
		for name, in := range map[string]struct{ from, to time.Time }{
			"all":  {first.Add(-50 * time.Hour), r.Clock.Now().Add(50 * time.Hour)},
			"some": {first.Add(20 * time.Hour), first.Add(100 * time.Hour)},
			"none": {first.Add(-50 * time.Hour), first},
		} {
			want, total := map[string]int64{}, int64(0)
			for _, id := range r.IDs(app) {
				if created := id.Time().Std(); !created.Before(in.from) && created.Before(in.to) {
					want[created.Format(time.DateOnly)]++
					total++
				}
			}
			stats, err := r.Index.Stats(ctx, app.AccountID, nil, feedback.At(in.from), feedback.At(in.to))
			if err != nil || stats.Total != total || !stats.Exact {
				t.Errorf("%s: %d requests, want %d, exact %t, %v", name, stats.Total, total, stats.Exact, err)
			}
			for _, d := range stats.ByDay {
				if d.Requests != want[d.Day] {
					t.Errorf("%s: %d requests on %s, want %d", name, d.Requests, d.Day, want[d.Day])
				}
				delete(want, d.Day)
			}
			if len(want) > 0 {
				t.Errorf("%s: days without numbers: %v", name, want)
			}
		}
	})
}
