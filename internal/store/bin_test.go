package store_test

import (
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// TestBin: what has been in the bin for 30 days is gone with its history; what was
// restored or binned later stays.
func TestBin(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		account := r.account("Acme")
		app := r.app(account)
		old, restored, later := r.fill(app, 1), r.fill(app, 1), r.fill(app, 1)
		move := func(request feedback.Request, box feedback.Box) {
			t.Helper()
			if _, err := r.ChangeRequest(ctx, account.ID, request.ID, feedback.Command(), func(r *feedback.Request) error {
				r.Box = box
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		move(old, feedback.Bin)
		move(restored, feedback.Bin)
		move(restored, feedback.Live)
		r.clock.Move(30 * 24 * time.Hour)
		move(later, feedback.Bin)
		r.clock.Move(time.Millisecond)
		if err := r.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		for request, want := range map[feedback.ID]int{old.ID: 0, restored.ID: 1, later.ID: 1} {
			if n := r.count("requests WHERE account_id = $1 AND id = $2", account.ID, request); n != want {
				t.Errorf("%d rows, want %d", n, want)
			}
			if n := r.count("changes WHERE account_id = $1 AND request_id = $2", account.ID, request); (n > 0) != (want > 0) {
				t.Errorf("%d entries in the log of a request of which %d are left", n, want)
			}
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("miscounted: %v, %v", wrong, err)
		}
	})
}
