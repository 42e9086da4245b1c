package batch_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"gatherkit/internal/batch"
	"gatherkit/internal/fair"
)

// model is the expected state of a rig after each step.
type model struct {
	*rig
	o       batch.Options
	calls   []*call           // by q
	want    map[*call]string  // expected results of finished calls
	waiting map[string][]turn // by key, the next turn first
	alone   map[string][]int  // members that have yet to run alone
	running []*group
	gone    map[*call]bool // whose callers have left
}

// turn is the waiting calls of somebody, in the order of their arrival.
type turn struct {
	who   byte
	calls []*call
}

var errGone, errLost = errors.New("gone"), errors.New("lost")

func answer(result string, err error) string {
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // the other lines are the stack of a panic
		return "error: " + first
	}
	return result
}

// queued returns how many calls of anybody, and of somebody, wait.
func (m *model) queued(who byte) (all, theirs int) {
	for _, turns := range m.waiting {
		for _, turn := range turns {
			all += len(turn.calls)
			if turn.who == who {
				theirs += len(turn.calls)
			}
		}
	}
	return all, theirs
}

func (m *model) doCall(t *rapid.T) {
	who := rapid.Byte().Draw(t, "who") % 3
	all, theirs := m.queued(who)
	c := m.callOn(fair.By(context.Background(), [16]byte{who}), rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key"), len(m.calls))
	m.calls = append(m.calls, c)
	if theirs >= m.o.MaxQueue-all {
		m.want[c] = answer("", batch.ErrFull)
		return
	}
	turns := m.waiting[c.key]
	if i := slices.IndexFunc(turns, func(turn turn) bool { return turn.who == who }); i >= 0 {
		turns[i].calls = append(turns[i].calls, c)
	} else {
		m.waiting[c.key] = append(turns, turn{who, []*call{c}})
	}
}

// take removes a call that waits, and reports whether it did.
func (m *model) take(c *call) bool {
	turns := m.waiting[c.key]
	for i := range turns {
		if at := slices.Index(turns[i].calls, c); at >= 0 {
			turns[i].calls = slices.Delete(turns[i].calls, at, at+1)
			if len(turns[i].calls) == 0 {
				m.waiting[c.key] = slices.Delete(turns, i, i+1)
			}
			return true
		}
	}
	return false
}

// nextGroup returns the members of the next group of a key, and removes them.
func (m *model) nextGroup(key string) (qs []int) {
	for len(qs) < m.o.MaxGroup && len(m.waiting[key]) > 0 {
		c := m.waiting[key][0].calls[0]
		turns := m.waiting[key]
		m.waiting[key] = append(turns[1:len(turns):len(turns)], turns[0])
		m.take(c)
		qs = append(qs, c.q)
	}
	return qs
}

// putBack makes a call the next one.
func (m *model) putBack(c *call) {
	first := turn{c.who, []*call{c}}
	rest := slices.DeleteFunc(m.waiting[c.key], func(turn turn) bool {
		if turn.who == c.who {
			first.calls = append(first.calls, turn.calls...)
		}
		return turn.who == c.who
	})
	m.waiting[c.key] = append([]turn{first}, rest...)
}

func (m *model) doCancel(t *rapid.T) {
	if len(m.calls) == 0 {
		t.Skip("no call")
	}
	c := rapid.SampledFrom(m.calls).Draw(t, "call")
	c.cancel(errGone)
	synctest.Wait()
	if m.take(c) {
		m.want[c] = answer("", errGone)
	}
	m.gone[c] = true
}

func (m *model) doEnd(t *rapid.T) {
	if len(m.running) == 0 {
		t.Skip("no group")
	}
	i := rapid.IntRange(0, len(m.running)-1).Draw(t, "group")
	m.end(m.running[i], rapid.SampledFrom([]string{"good", "good", "data", "lost", "panic", "half", "half"}).Draw(t, "outcome"))
}

func (m *model) end(g *group, how string) {
	m.running = slices.DeleteFunc(m.running, func(other *group) bool { return other == g })
	var back []*call
	for i, q := range g.qs {
		c := m.calls[q]
		switch how {
		case "good":
			m.want[c] = resultOf(g.key, q)
		case "data":
			if len(g.qs) > 1 {
				m.alone[g.key] = slices.Clone(g.qs)
			} else {
				m.want[c] = answer("", errData)
			}
		case "lost":
			m.want[c] = answer("", errLost)
		case "panic":
			m.want[c] = "error: panic in a group: boom"
		case "half":
			switch ran := len(g.qs) / 2; {
			case ran == 0:
				m.want[c] = "error: a group of 1 members got 0 results"
			case i < ran:
				m.want[c] = resultOf(g.key, q)
			case m.gone[c]:
				m.want[c] = answer("", errGone)
			default:
				back = append(back, c)
			}
		}
	}
	for _, c := range slices.Backward(back) {
		m.putBack(c)
	}
	g.finish(map[string]outcome{"good": good, "data": fails(errData), "lost": fails(errLost), "panic": panics, "half": half}[how])
}

// check waits for started groups and compares the observable state with the model.
func (m *model) check(t *rapid.T) {
	for g := m.next(); g != nil; g = m.next() {
		var want []int
		if alone := m.alone[g.key]; len(alone) > 0 {
			want, m.alone[g.key] = alone[:1], alone[1:]
		} else {
			want = m.nextGroup(g.key)
		}
		if len(want) == 0 || !slices.Equal(g.qs, want) {
			t.Fatalf("group %s%v began, want %v", g.key, g.qs, want)
		}
		if slices.ContainsFunc(m.running, func(other *group) bool { return other.key == g.key }) {
			t.Fatalf("two groups of key %s run at once", g.key)
		}
		m.running = append(m.running, g)
	}
	if n := len(m.running); n > m.o.Parallel {
		t.Fatalf("%d groups run at once", n)
	}
	for key, turns := range m.waiting {
		busy := slices.ContainsFunc(m.running, func(g *group) bool { return g.key == key })
		if len(turns) > 0 && !busy && len(m.running) < m.o.Parallel {
			t.Fatalf("key %s waits although it could run", key)
		}
	}
	if want, _ := m.queued(0); m.Queued() != want {
		t.Fatalf("%d members are queued, want %d", m.Queued(), want)
	}
	for _, c := range m.calls {
		want, ok := m.want[c]
		if ok != c.answered() {
			t.Fatalf("call %d: answered %v, want %v", c.q, !ok, ok)
		}
		if ok && answer(c.result, c.err) != want {
			t.Fatalf("call %d: got %s, want %s", c.q, answer(c.result, c.err), want)
		}
	}
}

func TestAnyScheduleAnswersEveryCallOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := limits
		o.MaxGroup = rapid.IntRange(1, 4).Draw(t, "MaxGroup")
		o.MaxQueue = rapid.IntRange(1, 9).Draw(t, "MaxQueue")
		o.Parallel = rapid.IntRange(1, 3).Draw(t, "Parallel")
		rapid.SyncTest(t, func(t *rapid.T) {
			m := &model{
				rig: newRig(o), o: o, want: map[*call]string{}, waiting: map[string][]turn{}, alone: map[string][]int{},
				gone: map[*call]bool{},
			}
			defer close(m.quit)
			t.Repeat(map[string]func(*rapid.T){"": m.check, "call": m.doCall, "cancel": m.doCancel, "end": m.doEnd})
			closed := make(chan struct{})
			go func() { m.Close(); close(closed) }()
			synctest.Wait()
			for len(m.running) > 0 {
				m.end(m.running[0], "good")
				m.check(t)
			}
			if all, _ := m.queued(0); all > 0 {
				t.Fatalf("%d members wait forever", all)
			}
			<-closed
		})
	})
}

// This test runs many concurrent callers in no particular order, some of which give up.
func TestCrowd(t *testing.T) {
	const callers, each, keys = 32, 200, 5
	var ran [callers * each]atomic.Int32
	var groups atomic.Int32
	var busy [keys]atomic.Bool
	o := batch.Options{MaxGroup: 7, MaxQueue: 2 * callers, Parallel: 3, Timeout: time.Minute}
	b := batch.New(func(_ context.Context, key int, qs []int) ([]int, error) {
		if busy[key].Swap(true) || groups.Add(1) > 3 {
			t.Error("too many groups run at once")
		}
		defer func() { groups.Add(-1); busy[key].Store(false) }()
		results := make([]int, len(qs))
		for i, q := range qs {
			ran[q].Add(1)
			results[i] = -q
		}
		return results, nil
	}, o)
	var crowd sync.WaitGroup
	for i := range callers {
		crowd.Go(func() {
			for q := i * each; q < (i+1)*each; q++ {
				ctx, cancel := context.WithCancel(context.Background())
				if q%3 == 0 {
					go cancel()
				}
				result, err := b.Do(ctx, q%keys, q)
				cancel()
				switch n := ran[q].Load(); {
				case err == nil && result == -q && n == 1:
				case errors.Is(err, context.Canceled) && q%3 == 0 && n == 0:
				default:
					t.Errorf("call %d ran %d times and got %d, %v", q, n, result, err)
				}
			}
		})
	}
	crowd.Wait()
	goleak.VerifyNone(t) // without Close, because an idle Batcher has no goroutines
	if n := b.Queued(); n != 0 {
		t.Errorf("%d are queued, want none", n)
	}
	b.Close()
}

func BenchmarkDo(b *testing.B) {
	batcher := batch.New(func(_ context.Context, _ int, qs []int) ([]int, error) { return qs, nil },
		batch.Options{MaxGroup: 256, MaxQueue: 4096, Parallel: 1, Timeout: time.Minute})
	b.SetParallelism(128)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := batcher.Do(context.Background(), 1, 1); err != nil {
				b.Error(err)
			}
		}
	})
	batcher.Close()
}
