package store_test

import (
	"database/sql/driver"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestPace: while submissions arrive, the index follows them in small steps and long pauses, unless it lags so far that
// totals are no longer exact.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		lag          int64
		chunk, pause int
	}{
		{0, index.Chunk, 15},
		{index.MaxTail - 1, index.Chunk, 15},
		{index.MaxTail, index.MaxChunk, 4},
		{16*index.MaxTail - 1, index.MaxChunk, 4},
		{16 * index.MaxTail, index.MaxChunk, 1},
	} {
		if chunk, pause := store.Pace(c.lag); chunk != c.chunk || pause != c.pause {
			t.Errorf("%d behind: %d entries and %d pauses, want %d and %d", c.lag, chunk, pause, c.chunk, c.pause)
		}
	}
}

// TestPaceBesideSubmissions: the indexer follows more entries at once with each step in which no submission arrives, and
// as many as its lag demands otherwise.
func TestPaceBesideSubmissions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.Fill(app, 2*index.MaxTail)
		for i, want := range []int{2 * index.Chunk, 4 * index.Chunk, index.MaxChunk} {
			chunk, err := r.FollowSteps(ctx, i+1)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "entries at once", chunk, want)
		}
		var busy *store.Store
		busy = r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.HasPrefix(query, "SELECT seq, request_id, ") {
				if _, err := r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("One more", "")}); err != nil {
					t.Error(err)
				}
				store.Arrived(busy)
			}
		})
		chunk, err := busy.FollowSteps(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "entries at once, far behind", chunk, index.MaxChunk)
		r.IndexAll()
		r.Fill(app, 1)
		if chunk, err = busy.FollowSteps(ctx, 1); err != nil {
			t.Fatal(err)
		}
		equal(t, "entries at once, not far behind", chunk, index.Chunk)
	})
}
