package store_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/events"
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
			go func() {
				_, err := r.Waiters.Wait(limited, nil, app.AccountID, last, 2*storetest.Patience)
				woken <- err
			}()
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

// TestWaitersShare: when all places are taken, the oldest waiter of the account with the most makes room, as long as
// that makes the shares more equal.
func TestWaitersShare(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	limited, stop := context.WithTimeout(ctx, storetest.Patience)
	defer stop()
	account := func(n byte) feedback.ID { return feedback.ID{n} }
	wait := func(n byte) chan bool {
		answered := make(chan bool, 1)
		before := r.Waiters.Waiting()
		go func() {
			waited, err := r.Waiters.Wait(limited, nil, account(n), 0, 2*storetest.Patience)
			answered <- waited && err == nil
		}()
		for r.Waiters.Waiting() == before && before < events.MaxWaiting && limited.Err() == nil {
			runtime.Gosched()
		}
		return answered
	}
	large := make([]chan bool, events.MaxWaiting-2)
	for n := range large {
		large[n] = wait(1)
	}
	wait(2)
	small := wait(2)
	if waited := <-wait(1); waited {
		t.Error("the account with the most got another place")
	}
	for n := range 3 {
		wait(3)
		if waited := <-large[n]; waited {
			t.Error("the oldest waiter was woken by a change")
		}
	}
	select {
	case <-small:
		t.Error("a waiter of an account with few was displaced")
	case <-large[3]:
		t.Error("more waiters than needed were displaced")
	default:
	}
	if n := r.Waiters.Waiting(); n != events.MaxWaiting {
		t.Errorf("%d wait", n)
	}
}

// TestWaitersFull: among accounts with as many waiters each, nobody is displaced.
func TestWaitersFull(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	limited, stop := context.WithTimeout(ctx, storetest.Patience)
	defer stop()
	id := func(n int) feedback.ID { return feedback.ID{byte(n), byte(n >> 8), 1} }
	var all sync.WaitGroup
	for n := range events.MaxWaiting {
		all.Go(func() {
			waited, err := r.Waiters.Wait(limited, nil, id(n), 0, 2*storetest.Patience)
			if !waited || !errors.Is(err, context.Canceled) {
				t.Errorf("displaced: %v, %v", waited, err)
			}
		})
	}
	for r.Waiters.Waiting() < events.MaxWaiting && limited.Err() == nil {
		runtime.Gosched()
	}
	for _, n := range []int{0, events.MaxWaiting} {
		if waited, err := r.Waiters.Wait(limited, nil, id(n), 0, time.Hour); waited || err != nil {
			t.Errorf("one more: %v, %v", waited, err)
		}
	}
	stop()
	all.Wait()
	if n := r.Waiters.Waiting(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}
