package fair_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"

	"gatherkit/internal/fair"
)

// TestClaims checks that places are taken in all pools or in none, and that a holder that
// stops waiting for the outer pool releases its place in the inner one.
func TestClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, outer := fair.New[string](math.MaxInt64, 2), fair.New[int](3, 3)
		one := fair.Claims{inner.For("one"), outer.For(1)}
		other := fair.Claims{inner.For("other"), outer.For(1)}
		if !one.TryAcquire(2) || one.TryAcquire(1) {
			t.Fatal("a holder does not get its share")
		}
		if !other.TryAcquire(1) {
			t.Fatal("the refused call holds places of the outer pool")
		}
		if other.TryAcquire(1) {
			t.Fatal("the outer pool has more places than its total")
		}
		ctx, leave := context.WithCancelCause(t.Context())
		reason := errors.New("enough")
		waited := make(chan error)
		go func() { waited <- other.Acquire(ctx, 1) }()
		synctest.Wait()
		if outer.Waiting() != 1 {
			t.Fatal("the call does not wait for the outer pool")
		}
		leave(reason)
		if err := <-waited; !errors.Is(err, reason) {
			t.Fatal(err)
		}
		one.Release(2)
		if !other.TryAcquire(1) {
			t.Fatal("a call that gave up holds places of the inner pool")
		}
		other.Release(2)
		if err := one.Acquire(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		one.Release(2)
		if !outer.TryAcquire(2, 3) || !inner.TryAcquire("one", 2) || !inner.TryAcquire("other", 2) {
			t.Error("released places are still held")
		}
	})
}
