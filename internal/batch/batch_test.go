package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gatherkit/internal/batch"
	"gatherkit/internal/fair"
)

func TestNextGroupGathersWhileOneRuns(t *testing.T) {
	var sizes []int
	o := limits
	o.Observe = func(size int) { sizes = append(sizes, size) }
	bubble(t, o, func(t *testing.T, r *rig) {
		first := r.call("a", 1)
		g := r.wantGroup(t, "a", 1)
		rest := []*call{r.call("a", 2), r.call("a", 3), r.call("a", 4), r.call("a", 5)}
		r.wantNoGroup(t)
		if n := r.Queued(); n != 4 {
			t.Fatalf("%d are queued, want 4", n)
		}
		g.finish(good)
		wantGood(t, first)
		wantWaiting(t, rest...)
		r.wantGroup(t, "a", 2, 3, 4).finish(good)
		wantGood(t, rest[:3]...)
		wantWaiting(t, rest[3])
		r.wantGroup(t, "a", 5).finish(good)
		wantGood(t, rest[3])
		if n := r.Queued(); n != 0 {
			t.Fatalf("%d are queued, want none", n)
		}
	})
	if !slices.Equal(sizes, []int{1, 3, 1}) {
		t.Fatalf("observed groups of %v, want [1 3 1]", sizes)
	}
}

func TestKeysRunSideBySideUpToTheLimit(t *testing.T) {
	bubble(t, limits, func(t *testing.T, r *rig) {
		calls := []*call{r.call("a", 1), r.call("b", 2), r.call("c", 3), r.call("d", 4), r.call("a", 5)}
		a, b := r.wantGroup(t, "a", 1), r.wantGroup(t, "b", 2)
		r.wantNoGroup(t)
		a.finish(good)
		c := r.wantGroup(t, "c", 3)
		r.wantNoGroup(t)
		c.finish(good)
		d := r.wantGroup(t, "d", 4)
		b.finish(good)
		again := r.wantGroup(t, "a", 5) // after c and d: a busy key does not starve the others
		again.finish(good)
		d.finish(good)
		wantGood(t, calls...)
	})
}

func TestCanceledMemberIsSkippedAndFreesItsPlace(t *testing.T) {
	bubble(t, limits, func(t *testing.T, r *rig) {
		gone := errors.New("the client is gone")
		running := r.call("a", 0)
		g := r.wantGroup(t, "a", 0)
		calls := []*call{r.call("a", 1), r.call("a", 2), r.call("a", 3), r.call("a", 4), r.call("a", 5)}
		wantErr(t, batch.ErrFull, r.call("b", 6))
		calls[1].cancel(gone)
		synctest.Wait()
		wantErr(t, gone, calls[1])
		b := r.call("b", 7)
		wantWaiting(t, b)
		r.wantGroup(t, "b", 7).finish(good)
		g.finish(good)
		r.wantGroup(t, "a", 1, 3, 4).finish(good)
		r.wantGroup(t, "a", 5).finish(good)
		wantGood(t, running, calls[0], calls[2], calls[3], calls[4], b)
	})
}

func TestCallWithEndedContextDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := batch.New(func(context.Context, int, []int) ([]int, error) {
			t.Error("a group ran")
			return nil, nil
		}, limits)
		gone := errors.New("the client is gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		for _, ctx := range []context.Context{ctx, unseen{ctx}} {
			if _, err := b.Do(ctx, 1, 1); !errors.Is(err, gone) {
				t.Fatalf("got %v, want the cause of the context's end", err)
			}
		}
	})
}

// unseen is a context whose end the worker notices before Do.
type unseen struct{ context.Context }

func (unseen) Done() <-chan struct{} { return nil }

func TestBegunGroupIsAwaitedUnderItsOwnContext(t *testing.T) {
	bubble(t, limits, func(t *testing.T, r *rig) {
		c := r.call("a", 1)
		g := r.wantGroup(t, "a", 1)
		c.cancel(errors.New("the client is gone"))
		synctest.Wait()
		wantWaiting(t, c)
		if g.ctx.Err() != nil {
			t.Fatal("the end of the caller's context ended the group")
		}
		if until, ok := g.ctx.Deadline(); !ok || time.Until(until) != limits.Timeout {
			t.Fatalf("the group has %v, want %v", time.Until(until), limits.Timeout)
		}
		g.finish(good)
		wantGood(t, c)
		if g.ctx.Err() == nil {
			t.Fatal("the group's context outlives it")
		}
	})
}

func TestGroupTimesOut(t *testing.T) {
	bubble(t, limits, func(t *testing.T, r *rig) {
		c := r.call("a", 1)
		g := r.wantGroup(t, "a", 1)
		g.finish(func(string, []int) ([]string, error) {
			<-g.ctx.Done()
			return nil, g.ctx.Err()
		})
		<-c.done
		wantErr(t, context.DeadlineExceeded, c)
	})
}

// twoGathered returns two calls in a group that has started.
func twoGathered(t *testing.T, r *rig) (*group, []*call) {
	t.Helper()
	first := r.call("a", 1)
	g := r.wantGroup(t, "a", 1)
	two := []*call{r.call("a", 2), r.call("a", 3)}
	g.finish(good)
	wantGood(t, first)
	return r.wantGroup(t, "a", 2, 3), two
}

func TestDataErrorRunsMembersAlone(t *testing.T) {
	bubble(t, limits, func(t *testing.T, r *rig) {
		g, two := twoGathered(t, r)
		g.finish(fails(errData))
		wantWaiting(t, two...)
		bad := r.wantGroup(t, "a", 2)
		r.wantNoGroup(t)
		if bad.ctx != g.ctx {
			t.Fatal("a member run alone has a timeout of its own")
		}
		bad.finish(fails(errData))
		wantErr(t, errData, two[0])
		r.wantGroup(t, "a", 3).finish(good)
		wantGood(t, two[1])
		r.wantNoGroup(t)
	})
}

func TestOtherErrorsFailTheGroup(t *testing.T) {
	lost := errors.New("connection lost")
	bubble(t, limits, func(t *testing.T, r *rig) {
		g, two := twoGathered(t, r)
		g.finish(fails(lost))
		wantErr(t, lost, two...)
		r.wantNoGroup(t)
	})
	neverAlone := limits
	neverAlone.Alone = nil
	bubble(t, neverAlone, func(t *testing.T, r *rig) {
		g, two := twoGathered(t, r)
		g.finish(fails(errData))
		wantErr(t, errData, two...)
		r.wantNoGroup(t)
	})
}

// Those whose work it is take turns, and each keeps the order of their calls, also of those that did not run.
func TestTurnsOfAGroup(t *testing.T) {
	many := limits
	many.MaxGroup, many.MaxQueue = 50, 50
	bubble(t, many, func(t *testing.T, r *rig) {
		calls := []*call{r.call("a", 100)}
		first := r.wantGroup(t, "a", 100)
		var want []int
		for q := range 30 {
			who := byte(1)
			if q >= 20 {
				who = byte(2)
			}
			calls = append(calls, r.callOn(fair.By(context.Background(), [16]byte{who}), "a", q))
			if q < 10 {
				want = append(want, q, 20+q)
			}
		}
		for q := 10; q < 20; q++ {
			want = append(want, q)
		}
		first.finish(good)
		r.wantGroup(t, "a", want...).finish(half)
		r.wantGroup(t, "a", want[15:]...).finish(good)
		wantGood(t, calls...)
	})
}

// One can fill half of the queue, and then there is room for others.
func TestNobodyFillsTheQueue(t *testing.T) {
	bubble(t, limits, func(t *testing.T, r *rig) {
		who := func(n byte) context.Context { return fair.By(context.Background(), [16]byte{n}) }
		calls := []*call{r.callOn(who(1), "a", 0)}
		g := r.wantGroup(t, "a", 0)
		for q := range 5 {
			calls = append(calls, r.callOn(who(1), "a", q+1))
		}
		wantErr(t, batch.ErrFull, r.callOn(who(1), "a", 6), r.callOn(who(1), "b", 6))
		calls = append(calls, r.callOn(who(2), "a", 7), r.callOn(who(2), "a", 8), r.callOn(who(2), "a", 9))
		wantErr(t, batch.ErrFull, r.callOn(who(2), "a", 10))
		calls = append(calls, r.callOn(who(3), "a", 11))
		g.finish(good)
		r.wantGroup(t, "a", 1, 7, 11).finish(good)
		r.wantGroup(t, "a", 2, 8, 3).finish(good)
		r.wantGroup(t, "a", 9, 4, 5).finish(good)
		wantGood(t, calls...)
	})
}

func TestBrokenRunIsAnErrorForEveryMember(t *testing.T) {
	always := limits
	always.Alone = func(error) bool { return true }
	none := func(string, []int) ([]string, error) { return nil, nil }
	more := func(key string, qs []int) ([]string, error) { return good(key, append(qs, 9)) }
	for _, test := range []struct {
		name string
		end  outcome
		want string
	}{
		{"panic", panics, "boom"},
		{"too few results", none, "a group of 2 members got 0 results"},
		{"too many results", more, "a group of 2 members got 3 results"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, always, func(t *testing.T, r *rig) {
				g, two := twoGathered(t, r)
				g.finish(test.end)
				for _, c := range two {
					if !c.answered() || c.err == nil || !strings.Contains(c.err.Error(), test.want) {
						t.Fatalf("call %d: got %q, %v, want an error with %q", c.q, c.result, c.err, test.want)
					}
				}
				r.wantNoGroup(t) // these are not errors of run, so no member runs alone
				after := r.call("a", 4)
				r.wantGroup(t, "a", 4).finish(good)
				wantGood(t, after)
			})
		})
	}
}

func TestCloseDrains(t *testing.T) {
	bubble(t, limits, func(t *testing.T, r *rig) {
		calls := []*call{r.call("a", 1), r.call("a", 2), r.call("b", 3)}
		closed := make(chan struct{})
		go func() { r.Close(); close(closed) }()
		synctest.Wait()
		wantErr(t, batch.ErrClosed, r.call("a", 4), r.call("c", 5))
		for _, g := range []*group{r.wantGroup(t, "a", 1), r.wantGroup(t, "b", 3)} {
			g.finish(good)
		}
		select {
		case <-closed:
			t.Fatal("Close returned before call 2 was answered")
		default:
		}
		r.wantGroup(t, "a", 2).finish(good)
		<-closed
		wantGood(t, calls...)
		r.Close() // a second call returns at once
	})
}

func TestNewRefusesLimitsThatCannotWork(t *testing.T) {
	for i, spoil := range []func(*batch.Options){
		func(o *batch.Options) { o.MaxGroup = 0 },
		func(o *batch.Options) { o.MaxQueue = 0 },
		func(o *batch.Options) { o.Parallel = 0 },
		func(o *batch.Options) { o.Timeout = 0 },
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Fatal("New did not panic")
				}
			}()
			o := limits
			spoil(&o)
			newRig(o)
		})
	}
}

// TestCallsWaitWithoutTheirPlace: a call that waits for its group leaves its place to others, and has it again after.
func TestCallsWaitWithoutTheirPlace(t *testing.T) {
	bubble(t, limits, func(t *testing.T, r *rig) {
		pool := fair.New[string](1, 1)
		on, leave, err := fair.Claims{pool.For("caller")}.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := r.callOn(on, "a", 1)
		g := r.wantGroup(t, "a", 1)
		if !pool.TryAcquire("other", 1) {
			t.Error("the call has its place while it waits")
		}
		pool.Release("other", 1)
		g.finish(good)
		wantGood(t, c)
		if pool.TryAcquire("other", 1) {
			t.Error("the call does not have its place again")
		}
		leave()
	})
}
