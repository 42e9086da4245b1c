// Package fair divides a limited number of places among holders, such as addresses or
// accounts. A holder never has more than its share, and waiting holders take turns (round
// robin), so that many calls of one holder do not delay the others.
package fair

import (
	"container/list"
	"context"
	"slices"
	"sync"
)

// Pool is a number of places for holders, which are identified by K. Its methods are safe
// for concurrent use.
type Pool[K comparable] struct {
	total, each int64

	mu      sync.Mutex
	used    int64
	holders map[K]*holder[K]
	turns   []*holder[K] // waiting holders in the order of their turns
}

type holder[K comparable] struct {
	who     K
	used    int64
	waiting list.List // of *waiter, in the order of their arrival
}

type waiter struct {
	n       int64
	granted chan struct{}
}

// New returns a pool of total places, of which a holder gets at most each. It panics unless
// both are positive.
func New[K comparable](total, each int64) *Pool[K] {
	if total < 1 || each < 1 {
		panic("fair: total and each must be positive")
	}
	return &Pool[K]{total: total, each: min(each, total), holders: map[K]*holder[K]{}}
}

// TryAcquire takes n places, ahead of waiting holders, if that many are free and within the
// holder's share. It reports whether it did.
func (p *Pool[K]) TryAcquire(who K, n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holder(who)
	defer p.forget(h)
	if h.used+n > p.each || p.used+n > p.total {
		return false
	}
	p.take(h, n)
	if h.waiting.Len() > 0 {
		p.grant() // the holder may have its share now, so that its waiting calls no longer hold up others
	}
	return true
}

// Acquire waits for n places and takes them. It returns the cause of ctx if ctx ends first.
// It panics if n is more than a holder's share. A call that waits gives back its own place
// meanwhile, as Pause says.
func (p *Pool[K]) Acquire(ctx context.Context, who K, n int64) error {
	if n > p.each {
		panic("fair: more places than one holder can have")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := &waiter{n: n, granted: make(chan struct{})}
	place := p.enter(who, w)
	select {
	case <-w.granted:
		return nil
	default:
	}
	defer Pause(ctx)()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.granted: // granted just before ctx ended: the caller releases the places
		return nil
	default:
	}
	h := p.holders[who]
	h.waiting.Remove(place)
	if h.waiting.Len() == 0 {
		p.turns = slices.DeleteFunc(p.turns, func(other *holder[K]) bool { return other == h })
	}
	p.forget(h)
	p.grant()
	return context.Cause(ctx)
}

// Waiting returns the number of calls that wait in Acquire.
func (p *Pool[K]) Waiting() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.turns {
		n += h.waiting.Len()
	}
	return n
}

// Release returns n places to the pool. It panics if the holder has fewer.
func (p *Pool[K]) Release(who K, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holder(who)
	h.used -= n
	p.used -= n
	if h.used < 0 {
		panic("fair: more places released than taken")
	}
	p.forget(h)
	p.grant()
}

func (p *Pool[K]) enter(who K, w *waiter) *list.Element {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holder(who)
	if h.waiting.Len() == 0 {
		p.turns = append(p.turns, h)
	}
	place := h.waiting.PushBack(w)
	p.grant()
	return place
}

// grant gives free places to waiting holders. It skips holders that have their share. If
// the next one needs more places than are free, it stops, because calls that need many
// places would otherwise starve.
func (p *Pool[K]) grant() {
	for i := 0; i < len(p.turns); {
		h := p.turns[i]
		first := h.waiting.Front()
		w := first.Value.(*waiter)
		if h.used+w.n > p.each {
			i++
			continue
		}
		if p.used+w.n > p.total {
			return
		}
		p.take(h, w.n)
		close(w.granted)
		h.waiting.Remove(first)
		p.turns = slices.Delete(p.turns, i, i+1)
		if h.waiting.Len() > 0 {
			p.turns = append(p.turns, h)
		}
	}
}

func (p *Pool[K]) take(h *holder[K], n int64) {
	h.used += n
	p.used += n
}

func (p *Pool[K]) holder(who K) *holder[K] {
	h := p.holders[who]
	if h == nil {
		h = &holder[K]{who: who}
		p.holders[who] = h
	}
	return h
}

// forget removes a holder that has no places and waits for none.
func (p *Pool[K]) forget(h *holder[K]) {
	if h.used == 0 && h.waiting.Len() == 0 {
		delete(p.holders, h.who)
	}
}
