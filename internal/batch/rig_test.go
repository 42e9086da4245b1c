package batch_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"gatherkit/internal/batch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// errData is what a group fails with when one member's data is to blame.
var errData = errors.New("bad data")

var limits = batch.Options{
	MaxGroup: 3, MaxQueue: 5, Parallel: 2, Timeout: time.Minute,
	Alone: func(err error) bool { return errors.Is(err, errData) },
}

// rig is a Batcher whose groups last until the test ends them. It lives in a
// bubble of synctest, where every step settles before the next.
type rig struct {
	*batch.Batcher[string, int, string]
	began chan *group
	quit  chan struct{} // ends all groups, so that a failed test leaves nothing behind
}

type group struct {
	ctx context.Context
	key string
	qs  []int
	end chan outcome
}

// outcome is how a group ends.
type outcome func(key string, qs []int) ([]string, error)

func good(key string, qs []int) ([]string, error) {
	results := make([]string, len(qs))
	for i, q := range qs {
		results[i] = resultOf(key, q)
	}
	return results, nil
}

func resultOf(key string, q int) string { return fmt.Sprintf("%s%d", key, q) }

func fails(err error) outcome { return func(string, []int) ([]string, error) { return nil, err } }

func panics(string, []int) ([]string, error) { panic("boom") }

func short(key string, qs []int) ([]string, error) { return good(key, qs[1:]) }

func newRig(o batch.Options) *rig {
	r := &rig{began: make(chan *group, 1000), quit: make(chan struct{})}
	r.Batcher = batch.New(func(ctx context.Context, key string, qs []int) ([]string, error) {
		g := &group{ctx: ctx, key: key, qs: qs, end: make(chan outcome)}
		r.began <- g
		select {
		case end := <-g.end:
			return end(key, qs)
		case <-r.quit:
			return nil, errors.New("the test is over")
		}
	}, o)
	return r
}

// call is a call of Do under way. Its answer may be read once done is closed.
type call struct {
	cancel context.CancelCauseFunc
	key    string
	q      int
	result string
	err    error
	done   chan struct{}
}

func (r *rig) call(key string, q int) *call {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &call{cancel: cancel, key: key, q: q, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.result, c.err = r.Do(ctx, key, q)
	}()
	synctest.Wait()
	return c
}

func (c *call) answered() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// next is the group that began next, nil when no other has begun.
func (r *rig) next() *group {
	select {
	case g := <-r.began:
		return g
	default:
		return nil
	}
}

func (g *group) finish(end outcome) {
	g.end <- end
	synctest.Wait()
}

// bubble runs a test with a rig of its own. It also proves that an idle Batcher
// has no goroutine: synctest fails a test that leaves one.
func bubble(t *testing.T, o batch.Options, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(o)
		defer close(r.quit)
		test(t, r)
	})
}

// wantGroup takes the next group and compares it.
func (r *rig) wantGroup(t *testing.T, key string, qs ...int) *group {
	t.Helper()
	g := r.next()
	if g == nil {
		t.Fatalf("no group began, want %s%v", key, qs)
	}
	if g.key != key || fmt.Sprint(g.qs) != fmt.Sprint(qs) {
		t.Fatalf("group %s%v began, want %s%v", g.key, g.qs, key, qs)
	}
	return g
}

func (r *rig) wantNoGroup(t *testing.T) {
	t.Helper()
	if g := r.next(); g != nil {
		t.Fatalf("group %s%v began, want none", g.key, g.qs)
	}
}

// wantGood checks that calls were answered with their own results.
func wantGood(t *testing.T, calls ...*call) {
	t.Helper()
	for _, c := range calls {
		if !c.answered() {
			t.Fatalf("call %d is not answered", c.q)
		}
		if c.err != nil || c.result != resultOf(c.key, c.q) {
			t.Fatalf("call %d: got %q, %v", c.q, c.result, c.err)
		}
	}
}

func wantErr(t *testing.T, want error, calls ...*call) {
	t.Helper()
	for _, c := range calls {
		if !c.answered() {
			t.Fatalf("call %d is not answered", c.q)
		}
		if !errors.Is(c.err, want) || c.result != "" {
			t.Fatalf("call %d: got %q, %v, want the error %v", c.q, c.result, c.err, want)
		}
	}
}

func wantWaiting(t *testing.T, calls ...*call) {
	t.Helper()
	for _, c := range calls {
		if c.answered() {
			t.Fatalf("call %d is answered already: %q, %v", c.q, c.result, c.err)
		}
	}
}
