package store_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestBulkBesideSubmissions: others' submissions go on while ten thousand requests
// change, and all are counted where they are.
func TestBulkBesideSubmissions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		account := r.account("Acme")
		app, other := r.app(account), r.app(account)
		requests := make([]feedback.Request, store.MaxBulk)
		for i := range requests {
			requests[i] = feedback.NewRequest("T", "")
			requests[i].Votes = 1
		}
		r.stored(app, requests)
		var done atomic.Bool
		var submitted [2]atomic.Int64
		var wg sync.WaitGroup
		for caller := range 8 {
			wg.Go(func() {
				for !done.Load() {
					to := []feedback.App{other, app}[caller%2]
					if _, err := r.Submit(ctx, store.Submission{App: to, Request: feedback.NewRequest("U", "")}); err != nil {
						t.Error(err)
						return
					}
					submitted[caller%2].Add(1)
				}
			})
		}
		filter := store.Filter{AppID: &app.ID, Box: feedback.Live, Statuses: []feedback.Status{"planned"}}
		ids := r.ids(app)[:store.MaxBulk]
		before := submitted[0].Load()
		for _, c := range []struct {
			bulk   store.Bulk
			status feedback.Status
			tags   []string
		}{
			{store.Bulk{IDs: ids}, "planned", []string{"A", "B"}},
			{store.Bulk{Filter: filter, Expected: store.MaxBulk}, "declined", []string{"b"}},
		} {
			n, err := r.ChangeRequests(ctx, account.ID, c.bulk, feedback.Command(), func(r *feedback.Request) error {
				r.Apply(feedback.RequestChange{Status: &c.status, Tags: &c.tags})
				return nil
			})
			if err != nil || n != store.MaxBulk {
				t.Fatalf("%d changed, %v", n, err)
			}
		}
		done.Store(true)
		wg.Wait()
		if submitted[0].Load() == before {
			t.Error("nobody has submitted meanwhile")
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %v, %v", wrong, err)
		}
		for from, want := range map[string]int{
			"requests WHERE status = 'declined' AND version = 3": store.MaxBulk,
			"request_tags WHERE tag = 'b' AND label = 'b'":       store.MaxBulk,
			"request_tags":                                            store.MaxBulk,
			"changes WHERE kind = 'request.updated'":                  2 * store.MaxBulk,
			"requests WHERE status = 'opened' AND tags = '[]'":        int(submitted[0].Load() + submitted[1].Load()),
			"requests WHERE status = 'declined' AND tags = '[\"b\"]'": store.MaxBulk,
		} {
			if n := r.count(from); n != want {
				t.Errorf("%d %s, want %d", n, from, want)
			}
		}
	})
}

// TestBulkOfMergedRequests: none of many requests changes when one of them is merged and
// would get another status; and where people count is settled when one goes to the bin.
func TestBulkOfMergedRequests(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		account := r.account("Acme")
		app := r.app(account)
		root, merged, alone := r.fill(app, 1), r.fill(app, 1), r.fill(app, 1)
		if _, err := r.MergeRequest(ctx, account.ID, merged.ID, root.ID, feedback.Command()); err != nil {
			t.Fatal(err)
		}
		bulk := store.Bulk{IDs: []feedback.ID{merged.ID, alone.ID}}
		_, err := r.ChangeRequests(ctx, account.ID, bulk, feedback.Command(), func(r *feedback.Request) error {
			r.Status = "planned"
			return nil
		})
		if now, readErr := r.Request(ctx, account.ID, alone.ID); !errors.Is(err, feedback.ErrMerged) || readErr != nil || now.Version != 1 {
			t.Errorf("%v, and %+v, %v", err, now, readErr)
		}
		for box, votes := range map[feedback.Box]int64{feedback.Bin: 1, feedback.Live: 2} {
			bulk.IDs = []feedback.ID{merged.ID, root.ID}
			if box == feedback.Bin {
				bulk.IDs = bulk.IDs[:1]
			}
			if _, err := r.ChangeRequests(ctx, account.ID, bulk, feedback.Command(), func(r *feedback.Request) error {
				r.Box = box
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			now, err := r.Request(ctx, account.ID, root.ID)
			if err != nil || now.Votes != votes {
				t.Errorf("%d votes while the merged one lies in %s, %v, want %d", now.Votes, box, err, votes)
			}
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %v, %v", wrong, err)
		}
	})
}
