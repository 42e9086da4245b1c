package store_test

import (
	"context"
	"runtime"
	"testing"

	"gatherkit/internal/changelog"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestWaiters: somebody who waits for changes of an account is woken by the first one, and not by those of others.
func TestWaiters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		quiet, busy := r.NewApp(r.NewAccount("Quiet")), r.NewApp(r.NewAccount("Busy"))
		limited, stop := context.WithTimeout(ctx, storetest.Patience)
		defer stop()
		wait := func(app feedback.App) chan error {
			last, err := changelog.Last(ctx, r.Raw, app.AccountID)
			if err != nil {
				t.Fatal(err)
			}
			woken := make(chan error, 1)
			go func() { woken <- r.Waiters.Wait(limited, nil, app.AccountID, last, 2*storetest.Patience) }()
			return woken
		}
		wait(quiet)
		woken := wait(busy)
		for r.Waiters.Waiting() < 2 && limited.Err() == nil {
			runtime.Gosched()
		}
		if _, err := r.Submit(ctx, store.Submission{App: busy, Request: feedback.NewRequest("T", "")}); err != nil {
			t.Fatal(err)
		}
		if err := <-woken; err != nil {
			t.Error("a change wakes nobody")
		}
		if n := r.Waiters.Waiting(); n != 1 {
			t.Errorf("%d wait for changes of an account that has none, want 1", n)
		}
	})
}
