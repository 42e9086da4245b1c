// Package batch implements group commit: it joins concurrent calls with the same key into
// one call on a slice. There is no timer: the next group forms while the current one runs.
// So a single call does not wait, and concurrent calls share the cost. Those whose work it
// is (fair.Who) take turns, and nobody can fill the queue.
package batch

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"gatherkit/internal/fair"
)

// Do returns ErrFull or ErrClosed if it does not accept a call.
var (
	ErrFull   = errors.New("too many calls are waiting; try again later")
	ErrClosed = errors.New("closed: no more calls are accepted")
)

// Options are the limits and hooks of a Batcher.
type Options struct {
	MaxGroup int // maximum number of members in a group
	// MaxQueue is the maximum number of waiting members of all keys. Nobody (fair.Who) may have more of them than
	// there are free places: one alone gets half of the queue, two get a third each (Choudhury and Hahne, "Dynamic queue
	// length thresholds for shared-memory packet switches", 1998). Do returns ErrFull beyond it.
	MaxQueue int
	Parallel int           // maximum number of groups, of different keys, that run at once
	Timeout  time.Duration // timeout of a group, whose context is independent of the callers' contexts
	// Alone reports whether an error of run may be caused by the data of one member. If so,
	// each member is run again in a group of its own, within the same timeout. Any other
	// error fails the whole group. Alone may be nil.
	Alone func(error) bool
	// Observe is called with the size of each group before it runs. It may be nil.
	Observe func(size int)
}

// Batcher joins concurrent calls into groups. Its methods are safe for concurrent use. It
// has no goroutines while it is idle.
type Batcher[K comparable, Q, R any] struct {
	run func(ctx context.Context, key K, qs []Q) ([]R, error)
	o   Options

	mu      sync.Mutex
	drained sync.Cond         // signaled when a worker ends
	lanes   map[K]*lane[Q, R] // waiting members of each key that is ready or running
	ready   []K               // keys with waiting members and no running group, in the order they became ready
	queued  int               // number of waiting members of all keys
	waiting map[[16]byte]int  // number of waiting members of each who
	workers int
	closed  bool
}

type member[Q, R any] struct {
	q      Q
	ctx    context.Context
	who    [16]byte      // whose work it is
	place  *list.Element // position in its lane; nil once the group has started
	result R
	err    error
	done   chan struct{} // closed once result and err are set
}

// New returns a Batcher. It calls run with the members of a group in their turns, those of one in the order of their
// arrival; run must return results in the same order. It may return fewer than there are members, but at least one: the
// others are then the next ones of their key. New panics unless MaxGroup, MaxQueue, Parallel and Timeout are positive.
func New[K comparable, Q, R any](run func(ctx context.Context, key K, qs []Q) ([]R, error), o Options) *Batcher[K, Q, R] {
	if o.MaxGroup < 1 || o.MaxQueue < 1 || o.Parallel < 1 || o.Timeout <= 0 {
		panic("batch: MaxGroup, MaxQueue, Parallel and Timeout must be positive")
	}
	b := &Batcher[K, Q, R]{run: run, o: o, lanes: map[K]*lane[Q, R]{}, waiting: map[[16]byte]int{}}
	b.drained.L = &b.mu
	return b
}

// Do runs q in a group of its key and returns its result. It returns ErrFull, ErrClosed,
// the cause of ctx if ctx ends before the group starts, or the error of the group. Once the
// group has started, Do waits for the result even if ctx ends, because the group's writes
// may already be durable.
func (b *Batcher[K, Q, R]) Do(ctx context.Context, key K, q Q) (R, error) {
	m := &member[Q, R]{q: q, ctx: ctx, who: fair.Who(ctx), done: make(chan struct{})}
	if err := b.enter(key, m); err != nil {
		return m.result, err
	}
	defer fair.Pause(ctx)() // others of the caller work meanwhile
	select {
	case <-m.done:
	case <-ctx.Done():
		if b.leave(key, m) {
			return m.result, context.Cause(ctx)
		}
		<-m.done
	}
	return m.result, m.err
}

// Busy reports whether a member of a key waits or runs.
func (b *Batcher[K, Q, R]) Busy(key K) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lanes[key] != nil
}

// Queued returns the number of members that wait for their group to start.
func (b *Batcher[K, Q, R]) Queued() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queued
}

// Close makes Do return ErrClosed for new calls, and waits until all accepted calls have
// their results.
func (b *Batcher[K, Q, R]) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for b.workers > 0 {
		b.drained.Wait()
	}
}

// enter appends a member to its lane. It returns ErrFull or ErrClosed if it does not.
func (b *Batcher[K, Q, R]) enter(key K, m *member[Q, R]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return ErrClosed
	case b.waiting[m.who] >= b.o.MaxQueue-b.queued:
		return ErrFull
	}
	l := b.lanes[key]
	if l == nil {
		l = newLane[Q, R]()
		b.lanes[key] = l
		b.ready = append(b.ready, key)
		if b.workers < b.o.Parallel {
			b.workers++
			go b.work()
		}
	}
	l.add(m)
	b.count(m, 1)
	return nil
}

// count counts a member that begins or ceases to wait.
func (b *Batcher[K, Q, R]) count(m *member[Q, R], n int) {
	b.queued += n
	if b.waiting[m.who] += n; b.waiting[m.who] == 0 {
		delete(b.waiting, m.who)
	}
}

// leave removes a member from its lane. It reports whether the member was still waiting.
func (b *Batcher[K, Q, R]) leave(key K, m *member[Q, R]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.place == nil {
		return false
	}
	b.lanes[key].remove(m)
	b.count(m, -1)
	return true
}

// work runs groups until no key is ready. A key with more waiting members goes to the end
// of the ready keys, so that a busy key does not starve the others.
func (b *Batcher[K, Q, R]) work() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.ready) > 0 {
		key := b.ready[0]
		b.ready = b.ready[1:]
		l := b.lanes[key]
		if group := b.gather(l); len(group) > 0 {
			b.mu.Unlock()
			rest := b.runGroup(key, group)
			b.mu.Lock()
			b.putBack(l, rest)
		}
		if l.empty() {
			delete(b.lanes, key)
		} else {
			b.ready = append(b.ready, key)
		}
	}
	b.workers--
	b.drained.Broadcast()
}

// gather removes the next group from a lane. Members whose ctx has ended get its cause as
// their error instead.
func (b *Batcher[K, Q, R]) gather(l *lane[Q, R]) (group []*member[Q, R]) {
	for len(group) < b.o.MaxGroup {
		m := l.next()
		if m == nil {
			break
		}
		b.count(m, -1)
		if !m.gone() {
			group = append(group, m)
		}
	}
	return group
}

// gone reports whether the caller of a member has left, and then answers.
func (m *member[Q, R]) gone() bool {
	if m.ctx.Err() == nil {
		return false
	}
	m.err = context.Cause(m.ctx)
	close(m.done)
	return true
}

// putBack makes the members that did not run the next ones of a lane.
func (b *Batcher[K, Q, R]) putBack(l *lane[Q, R], rest []*member[Q, R]) {
	for _, m := range slices.Backward(rest) {
		if !m.gone() {
			l.putBack(m)
			b.count(m, 1)
		}
	}
}

// runGroup runs a group, sets the results of its members, and returns those that did not run.
func (b *Batcher[K, Q, R]) runGroup(key K, group []*member[Q, R]) (rest []*member[Q, R]) {
	ctx, cancel := context.WithTimeout(context.Background(), b.o.Timeout)
	defer cancel()
	if b.o.Observe != nil {
		b.o.Observe(len(group))
	}
	ran, alone, err := b.call(ctx, key, group)
	for _, m := range group[:ran] {
		m.err = err
		if alone && len(group) > 1 {
			_, _, m.err = b.call(ctx, key, []*member[Q, R]{m})
		}
		close(m.done)
	}
	return group[ran:]
}

// call calls run, stores the results, and returns how many members ran. If run fails, alone
// reports whether to run each member again by itself.
func (b *Batcher[K, Q, R]) call(ctx context.Context, key K, group []*member[Q, R]) (ran int, alone bool, err error) {
	ran = len(group)
	defer func() {
		if cause := recover(); cause != nil {
			alone, err = false, fmt.Errorf("panic in a group: %v\n%s", cause, debug.Stack())
		}
	}()
	qs := make([]Q, len(group))
	for i, m := range group {
		qs[i] = m.q
	}
	results, err := b.run(ctx, key, qs)
	if err != nil {
		return ran, b.o.Alone != nil && b.o.Alone(err), err
	}
	if len(results) == 0 || len(results) > len(group) {
		return ran, false, fmt.Errorf("a group of %d members got %d results", len(group), len(results))
	}
	for i, result := range results {
		group[i].result = result
	}
	return len(results), false, nil
}
