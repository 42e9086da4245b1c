package fair_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"gatherkit/internal/fair"
)

// TestPlaces: a call has one place while it works, and none while it waits for others.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := fair.New[string](1, 1)
		claims := fair.Claims{pool.For("one")}
		free := func(when string, want bool) {
			t.Helper()
			got := pool.TryAcquire("other", 1)
			if got {
				pool.Release("other", 1)
			}
			if got != want {
				t.Errorf("%s, the place is free: %v", when, got)
			}
		}
		enter := func(ctx context.Context) (context.Context, func()) {
			t.Helper()
			on, leave, err := claims.Enter(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return on, leave
		}
		fair.Pause(t.Context())() // it has no place

		on, leave := enter(t.Context())
		free("working", false)
		_, leaveAgain := enter(on) // would wait for ever if it needed another place
		leaveAgain()
		free("still working", false)
		resume := fair.Pause(on)
		free("paused", true)
		fair.Pause(on)() // what waits within a wait does not take the place
		free("paused twice", true)
		resume()
		free("resumed", false)
		leave()
		free("at the end", true)

		// Waiting in another pool gives the place back, and only waiting does.
		others := fair.New[string](1, 1)
		on, leave = enter(t.Context())
		if err := others.Acquire(on, "one", 1); err != nil {
			t.Fatal(err)
		}
		free("without a wait", false)
		acquired := make(chan error)
		go func() { acquired <- others.Acquire(on, "one", 1) }()
		synctest.Wait()
		free("waiting in another pool", true)
		others.Release("one", 1)
		if err := <-acquired; err != nil {
			t.Error(err)
		}
		free("after the wait", false)
		leave()

		reason := errors.New("enough")
		ctx, end := context.WithCancelCause(t.Context())
		on, leave = enter(ctx)
		resume = fair.Pause(on)
		if !pool.TryAcquire("other", 1) {
			t.Fatal("the place is not free")
		}
		resumed := make(chan struct{})
		go func() { resume(); close(resumed) }()
		synctest.Wait()
		if pool.Waiting() != 1 {
			t.Error("the call does not wait for its place")
		}
		end(reason)
		<-resumed
		pool.Release("other", 1)
		leave() // of the place that it did not get back
		free("after a call that ended while it waited", true)
		if _, _, err := claims.Enter(ctx); !errors.Is(err, reason) {
			t.Errorf("too late: %v", err)
		}
		free("after a call that came too late", true)
	})
}
