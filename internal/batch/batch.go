// Package batch is group commit: concurrent calls with the same key are joined
// into one call on a slice. There is no timer: while one group runs, the next
// gathers, so a lone call waits for nobody and a crowd shares the cost.
package batch

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// ErrFull and ErrClosed are refusals of Do before anything was done.
var (
	ErrFull   = errors.New("too many calls are waiting; try again later")
	ErrClosed = errors.New("closed: no more calls are accepted")
)

// Options bound a Batcher.
type Options struct {
	MaxGroup int           // most members in one group
	MaxQueue int           // most waiting members over all keys; one more is refused with ErrFull
	Parallel int           // groups of different keys that run at once
	Timeout  time.Duration // each group runs under a context of its own with this timeout, never under a caller's
	// Alone reports whether an error of run was caused by one member's data: then
	// the members are run again one by one, within the same timeout. Any other
	// error fails the whole group. May be nil.
	Alone func(error) bool
	// Observe is told each group's size before it runs. May be nil.
	Observe func(size int)
}

// Batcher joins calls. Its methods are safe for concurrent use. It has no
// goroutine while it is idle.
type Batcher[K comparable, Q, R any] struct {
	run func(ctx context.Context, key K, qs []Q) ([]R, error)
	o   Options

	mu      sync.Mutex
	drained sync.Cond        // signalled when a worker ends
	lanes   map[K]*list.List // waiting members of each key that is ready or running
	ready   []K              // keys with waiting members and no running group, longest ready first
	queued  int              // waiting members over all lanes
	workers int
	closed  bool
}

type member[Q, R any] struct {
	q      Q
	ctx    context.Context
	place  *list.Element // in its lane, to leave it in constant time; nil once the group has begun
	result R
	err    error
	done   chan struct{} // closed once result and err are set
}

// New returns a Batcher. run gets the members of one group in the order in which
// they came and must return as many results in the same order. MaxGroup, MaxQueue,
// Parallel and Timeout must be positive: New panics otherwise.
func New[K comparable, Q, R any](run func(ctx context.Context, key K, qs []Q) ([]R, error), o Options) *Batcher[K, Q, R] {
	if o.MaxGroup < 1 || o.MaxQueue < 1 || o.Parallel < 1 || o.Timeout <= 0 {
		panic("batch: MaxGroup, MaxQueue, Parallel and Timeout must be positive")
	}
	b := &Batcher[K, Q, R]{run: run, o: o, lanes: map[K]*list.List{}}
	b.drained.L = &b.mu
	return b
}

// Do runs q in a group of its key and returns its result. It fails with ErrFull,
// with ErrClosed, with the cause of ctx's end when that came before the group
// began, or with the error of the group. Once the group has begun Do waits for the
// outcome even if ctx ends, because what it wrote may be durable.
func (b *Batcher[K, Q, R]) Do(ctx context.Context, key K, q Q) (R, error) {
	m := &member[Q, R]{q: q, ctx: ctx, done: make(chan struct{})}
	if err := b.enter(key, m); err != nil {
		return m.result, err
	}
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

// Queued is how many members wait for their group to begin.
func (b *Batcher[K, Q, R]) Queued() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queued
}

// Close refuses new calls with ErrClosed and returns when all accepted members
// have been answered.
func (b *Batcher[K, Q, R]) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for b.workers > 0 {
		b.drained.Wait()
	}
}

// enter puts a member at the end of its lane, or refuses it.
func (b *Batcher[K, Q, R]) enter(key K, m *member[Q, R]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return ErrClosed
	case b.queued >= b.o.MaxQueue:
		return ErrFull
	}
	lane := b.lanes[key]
	if lane == nil {
		lane = list.New()
		b.lanes[key] = lane
		b.ready = append(b.ready, key)
		if b.workers < b.o.Parallel {
			b.workers++
			go b.work()
		}
	}
	m.place = lane.PushBack(m)
	b.queued++
	return nil
}

// leave takes a member out of its lane and reports whether it still waited there.
func (b *Batcher[K, Q, R]) leave(key K, m *member[Q, R]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.place == nil {
		return false
	}
	b.lanes[key].Remove(m.place)
	b.queued--
	return true
}

// work runs groups until no key is ready. A key with more members goes to the end
// of the ready ones, so that a busy key does not starve the others.
func (b *Batcher[K, Q, R]) work() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.ready) > 0 {
		key := b.ready[0]
		b.ready = b.ready[1:]
		lane := b.lanes[key]
		if group := b.gather(lane); len(group) > 0 {
			b.mu.Unlock()
			b.runGroup(key, group)
			b.mu.Lock()
		}
		if lane.Len() > 0 {
			b.ready = append(b.ready, key)
		} else {
			delete(b.lanes, key)
		}
	}
	b.workers--
	b.drained.Broadcast()
}

// gather takes the next group out of a lane and answers those whose ctx has ended.
func (b *Batcher[K, Q, R]) gather(lane *list.List) (group []*member[Q, R]) {
	for lane.Len() > 0 && len(group) < b.o.MaxGroup {
		m := lane.Remove(lane.Front()).(*member[Q, R])
		m.place = nil
		b.queued--
		if m.ctx.Err() != nil {
			m.err = context.Cause(m.ctx)
			close(m.done)
			continue
		}
		group = append(group, m)
	}
	return group
}

// runGroup runs a group and answers its members.
func (b *Batcher[K, Q, R]) runGroup(key K, group []*member[Q, R]) {
	ctx, cancel := context.WithTimeout(context.Background(), b.o.Timeout)
	defer cancel()
	if b.o.Observe != nil {
		b.o.Observe(len(group))
	}
	alone, err := b.call(ctx, key, group)
	for _, m := range group {
		m.err = err
		if alone && len(group) > 1 {
			_, m.err = b.call(ctx, key, []*member[Q, R]{m})
		}
		close(m.done)
	}
}

// call calls run once and stores the results. With an error it reports whether the
// members should be run alone.
func (b *Batcher[K, Q, R]) call(ctx context.Context, key K, group []*member[Q, R]) (alone bool, err error) {
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
		return b.o.Alone != nil && b.o.Alone(err), err
	}
	if len(results) != len(group) {
		return false, fmt.Errorf("a group of %d members got %d results", len(group), len(results))
	}
	for i, m := range group {
		m.result = results[i]
	}
	return false, nil
}
