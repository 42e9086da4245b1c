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
	"gatherkit/internal/fair"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// errData is the error of a group if the data of one member is invalid.
var errData = errors.New("bad data")

var limits = batch.Options{
	MaxGroup: 3, MaxQueue: 10, Parallel: 2, Timeout: time.Minute,
	Alone: func(err error) bool { return errors.Is(err, errData) },
}

// rig is a Batcher whose groups run until the test ends them. It runs in a synctest bubble,
// where each step completes before the next one.
type rig struct {
	*batch.Batcher[string, int, string]
	began chan *group
	quit  chan struct{} // ends all groups, so that a failed test leaves no goroutines
}

type group struct {
	ctx context.Context
	key string
	qs  []int
	end chan outcome
}

// outcome is the result of a group.
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

// half leaves half of the members for the next group.
func half(key string, qs []int) ([]string, error) { return good(key, qs[:len(qs)/2]) }

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

// call is a call of Do. Its result can be read once done is closed.
type call struct {
	cancel context.CancelCauseFunc
	key    string
	who    byte
	q      int
	result string
	err    error
	done   chan struct{}
}

func (r *rig) call(key string, q int) *call { return r.callOn(context.Background(), key, q) }

func (r *rig) callOn(ctx context.Context, key string, q int) *call {
	who := fair.Who(ctx)[0]
	ctx, cancel := context.WithCancelCause(ctx)
	c := &call{cancel: cancel, key: key, who: who, q: q, done: make(chan struct{})}
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

// next returns the next group that has started, or nil if there is none.
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

// bubble runs a test with a new rig in a synctest bubble. synctest fails if goroutines are
// left, so this also checks that an idle Batcher has none.
func bubble(t *testing.T, o batch.Options, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(o)
		defer close(r.quit)
		test(t, r)
	})
}

// wantGroup takes the next group and checks its members.
func (r *rig) wantGroup(t *testing.T, key string, qs ...int) *group {
	t.Helper()
	g := r.next()
	if g == nil {
		t.Fatalf("no group started, want %s%v", key, qs)
	}
	if g.key != key || fmt.Sprint(g.qs) != fmt.Sprint(qs) {
		t.Fatalf("group %s%v began, want %s%v", g.key, g.qs, key, qs)
	}
	return g
}

func (r *rig) wantNoGroup(t *testing.T) {
	t.Helper()
	if g := r.next(); g != nil {
		t.Fatalf("group %s%v started, want none", g.key, g.qs)
	}
}

// wantGood checks that each call has its own result.
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
