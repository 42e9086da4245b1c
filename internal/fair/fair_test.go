package fair_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"gatherkit/internal/fair"
)

// TestTurns checks that a holder that arrives after many waiting calls of another one gets
// the next free place.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := fair.New[string](2, 2)
		order := make(chan string, 8)
		wait := func(who string) {
			go func() {
				if err := pool.Acquire(t.Context(), who, 1); err != nil {
					t.Error(err)
				}
				order <- who
			}()
			synctest.Wait()
		}
		for range 6 {
			wait("crowd")
		}
		wait("other")
		wait("third")
		if n := pool.Waiting(); n != 6 {
			t.Errorf("%d wait, want 6", n)
		}
		var got []string
		for range 8 {
			who := <-order
			got = append(got, who)
			pool.Release(who, 1)
			synctest.Wait()
		}
		// The other holder was the first to wait, so it has the first turn.
		want := "crowd crowd crowd other third crowd crowd crowd"
		if strings.Join(got, " ") != want {
			t.Errorf("places were given to %s, want %s", got, want)
		}
	})
}

func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := fair.New[string](4, 3)
		if !pool.TryAcquire("a", 3) || pool.TryAcquire("a", 1) {
			t.Error("a holder does not get exactly its share")
		}
		if !pool.TryAcquire("b", 1) || pool.TryAcquire("b", 1) {
			t.Error("another holder does not get exactly the rest")
		}
		waits := make(chan error, 1)
		go func() { waits <- pool.Acquire(t.Context(), "a", 1) }()
		synctest.Wait()
		pool.Release("b", 1)
		synctest.Wait()
		if len(waits) > 0 {
			t.Error("a holder got more than its share")
		}
		// Its wait does not keep others from getting places.
		if err := pool.Acquire(t.Context(), "c", 1); err != nil {
			t.Error(err)
		}
		pool.Release("c", 1)
		pool.Release("a", 1)
		synctest.Wait()
		if len(waits) == 0 {
			t.Error("a released place was not given to the holder that waits for it")
		}
	})
}

// TestTryMakesWay checks that a call which waits for free places delays nobody any longer once its holder
// has its share by another call.
func TestTryMakesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := fair.New[string](6, 6)
		pool.TryAcquire("a", 1)
		large, small := make(chan error, 1), make(chan error, 1)
		go func() { large <- pool.Acquire(t.Context(), "b", 6) }()
		synctest.Wait()
		go func() { small <- pool.Acquire(t.Context(), "a", 1) }()
		synctest.Wait()
		if !pool.TryAcquire("b", 1) {
			t.Fatal("there were free places")
		}
		synctest.Wait()
		if len(small) != 1 {
			t.Fatal("a call waits behind one that is beyond its holder's share")
		}
		pool.Release("a", 2)
		pool.Release("b", 1)
		synctest.Wait()
		if len(large) != 1 {
			t.Error("all places are free, and the large call waits")
		}
	})
}

// TestLargeIsNotOvertaken checks that a call that needs many places gets them although calls
// that need few keep arriving.
func TestLargeIsNotOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := fair.New[int](4, 4)
		for who := range 4 {
			pool.TryAcquire(who, 1)
		}
		large := make(chan error, 1)
		go func() { large <- pool.Acquire(t.Context(), 10, 3) }()
		synctest.Wait()
		small := make(chan error, 4)
		for who := range 4 {
			go func() { small <- pool.Acquire(t.Context(), 20+who, 1) }()
		}
		synctest.Wait()
		for who := range 3 {
			pool.Release(who, 1)
		}
		synctest.Wait()
		if len(large) != 1 || len(small) != 0 {
			t.Errorf("%d large and %d small calls got places; the large one was first", len(large), len(small))
		}
		pool.Release(10, 3)
		synctest.Wait()
		if len(small) != 3 {
			t.Errorf("%d small calls got one of the 3 free places", len(small))
		}
		pool.Release(3, 1)
		synctest.Wait()
	})
}

func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := fair.New[string](2, 2)
		pool.TryAcquire("a", 1)
		gone := errors.New("gone")
		ctx, leave := context.WithCancelCause(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- pool.Acquire(ctx, "b", 2) }()
		synctest.Wait()
		go func() { second <- pool.Acquire(t.Context(), "c", 1) }()
		synctest.Wait()
		if len(first)+len(second) != 0 {
			t.Fatal("there was no free place")
		}
		leave(gone)
		synctest.Wait()
		if err := <-first; !errors.Is(err, gone) {
			t.Errorf("left with %v", err)
		}
		if len(second) != 1 {
			t.Error("the call behind the canceled one still waits")
		}
		if err := pool.Acquire(ctx, "d", 1); !errors.Is(err, gone) {
			t.Errorf("a canceled call got a place: %v", err)
		}
	})
}

func TestPanics(t *testing.T) {
	for name, fn := range map[string]func(){
		"no places":       func() { fair.New[int](0, 1) },
		"no share":        func() { fair.New[int](1, 0) },
		"more than share": func() { _ = fair.New[int](4, 2).Acquire(context.Background(), 1, 3) },
		"released twice":  func() { p := fair.New[int](4, 2); p.TryAcquire(1, 1); p.Release(1, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			fn()
		})
	}
}

// step is one step of the random test. Its numbers are drawn in advance, because rapid must
// not be called in a synctest bubble.
type step struct {
	do  string
	who int
	n   int64
	at  int // index among the calls that hold places or wait
}

// TestRandom does random steps and checks two rules after each: no share and no total is
// exceeded, and the first call of a holder waits only if there are too few places for it, or
// if a holder with an earlier turn waits for them.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.Int64Range(1, 6).Draw(rt, "total")
		each := rapid.Int64Range(1, total).Draw(rt, "each")
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				rapid.SampledFrom([]string{"acquire", "acquire", "try", "release", "leave"}).Draw(rt, "do"),
				rapid.IntRange(0, 3).Draw(rt, "who"), rapid.Int64Range(1, each).Draw(rt, "n"), rapid.IntRange(0, 9).Draw(rt, "at"),
			}
		}), 1, 40).Draw(rt, "steps")
		fault := ""
		synctest.Test(t, func(*testing.T) {
			r := &random{pool: fair.New[int](total, each), total: total, each: each}
			for _, s := range steps {
				r.do(s)
				if fault = r.fault(); fault != "" {
					break
				}
			}
			r.end()
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// random is a pool with its expected state.
type random struct {
	pool          *fair.Pool[int]
	total, each   int64
	held, waiting []*want
}

// want is a call: how many places it wants, and how to cancel it.
type want struct {
	who   int
	n     int64
	done  chan error
	leave context.CancelFunc
}

func (r *random) do(s step) {
	switch {
	case s.do == "release" && len(r.held) > 0:
		i := s.at % len(r.held)
		r.pool.Release(r.held[i].who, r.held[i].n)
		r.held = slices.Delete(r.held, i, i+1)
	case s.do == "leave" && len(r.waiting) > 0:
		r.waiting[s.at%len(r.waiting)].leave()
	case s.do == "try" && r.pool.TryAcquire(s.who, s.n):
		r.held = append(r.held, &want{who: s.who, n: s.n})
	case s.do == "acquire":
		ctx, leave := context.WithCancel(context.Background())
		w := &want{s.who, s.n, make(chan error, 1), leave}
		r.waiting = append(r.waiting, w)
		go func() { w.done <- r.pool.Acquire(ctx, w.who, w.n) }()
	}
	synctest.Wait()
	r.waiting = slices.DeleteFunc(r.waiting, func(w *want) bool {
		if len(w.done) == 0 {
			return false
		}
		if err := <-w.done; err == nil {
			r.held = append(r.held, w)
		}
		return true
	})
}

func (r *random) fault() string {
	used, by := int64(0), map[int]int64{}
	for _, w := range r.held {
		used += w.n
		by[w.who] += w.n
	}
	if used > r.total {
		return fmt.Sprintf("%d of %d places are used", used, r.total)
	}
	fit, blocked, seen := 0, false, map[int]bool{}
	for _, w := range r.waiting {
		switch {
		case seen[w.who] || by[w.who]+w.n > r.each:
		case used+w.n > r.total:
			blocked = true
		default:
			fit++
		}
		seen[w.who] = true
	}
	if fit > 0 && !blocked {
		return fmt.Sprintf("%d of %d places are used, and %d callers that fit wait", used, r.total, fit)
	}
	for who, n := range by {
		if n > r.each {
			return fmt.Sprintf("holder %d has %d places, and its share is %d", who, n, r.each)
		}
	}
	return ""
}

// end releases all places until no holder has places or waits.
func (r *random) end() {
	for _, w := range r.waiting {
		w.leave()
	}
	for len(r.held)+len(r.waiting) > 0 {
		r.do(step{do: "release"})
	}
}
